import Configuration
import Logging
import TransferAPI
import TransferEngine

/// What the daemon is told: a YAML file < the environment (`TRANSFERD_…`) < the command line. Read again at SIGHUP.
struct DaemonConfiguration: Equatable, Sendable {
  var limits = Scheduler.Limits()
  var logLevel = Logger.Level.notice
  /// How long the history of ended jobs is kept; 0: for ever.
  var historyDays = 90
  /// A PEM bundle instead of the system's roots.
  var certificateAuthorityFile: String?
  /// The group that may use the socket of a system service.
  var socketGroup: String?
  /// Which of the URLs that servers name are followed; `nil`: it depends on the job's owner.
  var redirects: RedirectPolicy?
  /// Variables of the daemon's environment that the commands which it starts get beside the standard ones.
  var passEnvironment: [String] = []
  /// What members of that group may name.
  var memberRoots = MemberRoots()
  /// SSH keys and known hosts, TLS of FTP.
  var remote = RemoteAccess()

  /// What stands on the command line.
  struct Flags: Equatable, Sendable {
    var configurationFile: String?
    var maxActive: Int?
    var maxPerOrigin: Int?
    var logLevel: Logger.Level?
  }

  /// What cannot be used, for people: where it stands, which key, what is allowed.
  struct Invalid: Error, Equatable, CustomStringConvertible {
    let description: String
  }

  static let activeRange = 1...10_000

  /// Every value is checked, also one that another wins over: `ConfigurationKey.all` says which there are.
  /// - Throws: for a file that cannot be read, a key that is not known, a value of the wrong kind or out of range.
  static func load(
    _ flags: Flags, environment: [String: String]
  ) async throws(Invalid) -> DaemonConfiguration {
    var result = DaemonConfiguration()
    if let path = flags.configurationFile {
      let file = try ConfigurationFile(path: path)
      for entry in file.entries {
        do {
          try entry.key.apply(entry.value, to: &result)
        } catch {
          throw file.fault(error.description, line: entry.line)
        }
      }
    }
    try result.adopt(environment)
    if let maxActive = flags.maxActive { result.limits.admission.maxActive = maxActive }
    if let maxPerOrigin = flags.maxPerOrigin { result.limits.admission.maxPerOrigin = maxPerOrigin }
    if let level = flags.logLevel { result.logLevel = level }
    return result
  }

  private mutating func adopt(_ environment: [String: String]) throws(Invalid) {
    let reader = ConfigReader(provider: EnvironmentVariablesProvider(environmentVariables: environment))
      .scoped(to: "transferd")
    for key in ConfigurationKey.all {
      guard let value = Self.value(of: key, in: reader) else { continue }
      do {
        try key.apply(value, to: &self)
      } catch {
        throw Invalid(description: "cannot use the variable \(key.variable): \(error)")
      }
    }
  }

  /// An empty variable is how shells and unit files unset one. The words of a list are parted by commas.
  private static func value(of key: ConfigurationKey, in reader: ConfigReader) -> ConfigurationFile.Value? {
    let name = ConfigKey(key.name)
    guard let text = reader.string(forKey: name), !text.isEmpty else { return nil }
    return key.isList ? .list(reader.stringArray(forKey: name) ?? []) : .scalar(text)
  }
}
