import Configuration
import Logging
import SystemPackage
import TransferAPI
import TransferEngine

/// What the daemon is told: a YAML file < the environment (`TRANSFERD_…`) < the command line. Read again at SIGHUP.
struct DaemonConfiguration: Equatable, Sendable {
  var limits = Scheduler.Limits()
  var logLevel = Logger.Level.notice
  /// A PEM bundle instead of the system's roots.
  var certificateAuthorityFile: String?
  /// The group that may use the socket of a system service.
  var socketGroup: String?
  /// Commands that are told of a job's end.
  var hooks = HookConfiguration()
  /// SSH keys and known hosts, TLS of FTP.
  var remote = RemoteAccess()

  /// What stands on the command line.
  struct Flags: Equatable, Sendable {
    var configurationFile: String?
    var maxActive: Int?
    var maxPerOrigin: Int?
    var logLevel: Logger.Level?
  }

  struct Invalid: Error, CustomStringConvertible {
    let description: String
  }

  static let maximumActive = 10_000

  /// - Throws: `Invalid` for a file that cannot be read or a value that makes no sense.
  static func load(_ flags: Flags, environment: [String: String]) async throws -> DaemonConfiguration {
    var providers: [any ConfigProvider] = [EnvironmentVariablesProvider(environmentVariables: environment)]
    if let path = flags.configurationFile {
      do {
        providers.append(try await FileProvider<YAMLSnapshot>(filePath: FilePath(path)))
      } catch {
        throw Invalid(description: "cannot read the configuration \(path): \(error)")
      }
    }
    let reader = ConfigReader(providers: providers).scoped(to: "transferd")
    var result = DaemonConfiguration()
    result.limits.admission.maxActive = try number(reader, "maxActive", flags.maxActive, 16)
    result.limits.admission.maxPerOrigin = try number(reader, "maxPerOrigin", flags.maxPerOrigin, 8)
    result.limits.maxAttempts = try number(reader, "maxAttempts", nil, 20)
    result.limits.timeouts.connect = try duration(reader, "connectTimeout") ?? .seconds(30)
    result.limits.timeouts.stall = try duration(reader, "stallTimeout") ?? .seconds(30)
    if let level = flags.logLevel {
      result.logLevel = level
    } else if let text = reader.string(forKey: "logLevel") {
      guard let level = Logger.Level(rawValue: text) else {
        throw Invalid(description: "logLevel \"\(text)\" is not one of trace, debug, info, notice, warning, error")
      }
      result.logLevel = level
    }
    result.certificateAuthorityFile = reader.string(forKey: "certificateAuthorityFile")
    result.socketGroup = reader.string(forKey: "socketGroup")
    result.hooks = try HookConfiguration(reader)
    result.remote = try RemoteAccess(reader)
    return result
  }

  private static func number(
    _ reader: ConfigReader, _ key: ConfigKey, _ flag: Int?, _ ordinary: Int
  ) throws -> Int {
    var value = flag ?? ordinary
    if flag == nil, let text = reader.string(forKey: key) {
      guard let number = Int(text) else { throw Invalid(description: "\(key) \"\(text)\" is not a number") }
      value = number
    } else if flag == nil, let number = reader.int(forKey: key) {
      value = number
    }
    guard (1...maximumActive).contains(value) else {
      throw Invalid(description: "\(key) must be from 1 to \(maximumActive)")
    }
    return value
  }

  static func duration(_ reader: ConfigReader, _ key: ConfigKey) throws -> Duration? {
    let text = reader.string(forKey: key) ?? reader.int(forKey: key).map { "\($0)" }
    guard let text else { return nil }
    guard let span = TimeSpan(text) else { throw Invalid(description: "\(key) \"\(text)\" is not a duration") }
    return span.duration
  }
}
