import Logging
import TransferAPI
import TransferEngine
import WireValues

/// The daemon's settings. The command line overrides the environment (`TRANSFERD_…`), which overrides the YAML file.
/// They are read again at SIGHUP.
struct DaemonConfiguration: Equatable, Sendable {
  var limits = Scheduler.Limits()
  var logLevel = Logger.Level.notice
  /// Days after which ended jobs are deleted from the history; 0 keeps them for ever.
  var historyDays = 90
  /// A PEM bundle instead of the system's roots.
  var certificateAuthorityFile: String?
  /// The group that may use the socket of a system service.
  var socketGroup: String?
  /// Which redirects are followed, and by way of which proxy.
  var network = NetworkRules.Settings()
  /// What `network.proxy` is made of.
  var proxy = ProxySetting()
  /// Names of environment variables that hooks and other commands inherit besides the standard ones.
  var passEnvironment: [String] = []
  /// The directories that members of `socketGroup` may read and write.
  var memberRoots = MemberRoots()
  /// Limits of speed.
  var rates = LimitSettings.Rates()
  /// Disks and files of downloads.
  var storage = StorageRules.Settings()
  /// What it says about some servers.
  var origins = OriginRules.none
  /// The names of the settings that something has set.
  var given: Set<String> = []
  /// SSH keys and known hosts, TLS of FTP.
  var remote = RemoteAccess()

  /// Options of the command line; `nil` where an option is missing.
  struct Flags: Equatable, Sendable {
    var configurationFile: String?
    var maxActive: Int?
    var maxPerOrigin: PerOriginLimit?
    var logLevel: Logger.Level?
  }

  /// A setting that cannot be used. The description names its place, its key and the values that are allowed.
  struct Invalid: Error, Equatable, CustomStringConvertible {
    let description: String
  }

  static let activeRange = Admission.range

  /// The limits that `transferctl limit` can replace.
  var limitSettings: LimitSettings {
    LimitSettings(base: limits, rates: rates, given: given)
  }

  /// Reads and checks the settings listed in `ConfigurationKey.all`. Overridden values are checked, too.
  /// - Throws: when the file cannot be read, a key is unknown, or a value has the wrong kind or is out of range.
  static func load(
    _ flags: Flags, environment: [String: String]
  ) throws(Invalid) -> DaemonConfiguration {
    var result = DaemonConfiguration()
    if let path = flags.configurationFile {
      let file = try ConfigurationFile(path: path)
      for entry in file.entries {
        do {
          try entry.key.apply(entry.value, to: &result)
          result.given.insert(entry.key.name)
        } catch {
          throw file.fault(error.description, line: entry.line)
        }
      }
    }
    try result.adopt(environment)
    if result.proxy.credentials != nil {
      guard case .server(let server) = result.proxy.source, server.credentials == nil else {
        throw Invalid(description: "proxyCredentials are for a proxy that a URL without a password names")
      }
    }
    do {
      result.network.proxy = try result.proxy.choice(environment: environment)
    } catch {
      throw Invalid(description: "cannot use the proxies of the environment (proxy: environment): \(error)")
    }
    if let maxActive = flags.maxActive {
      result.limits.queue.admission.maxActive = maxActive
      result.given.insert("maxActive")
    }
    if let maxPerOrigin = flags.maxPerOrigin {
      result.limits.queue.admission.maxPerOrigin = maxPerOrigin
      result.given.insert("maxPerOrigin")
    }
    result.network.origins = result.origins
    result.limits.queue.admission.origins = result.origins
    if let level = flags.logLevel { result.logLevel = level }
    return result
  }

  private mutating func adopt(_ environment: [String: String]) throws(Invalid) {
    for key in ConfigurationKey.all {
      // Shells and unit files unset a variable by making it empty.
      guard let text = environment[key.variable], !text.isEmpty else { continue }
      let value: ConfigurationFile.Value = key.isList ? .list(Self.words(text)) : .scalar(text)
      do {
        try key.apply(value, to: &self)
        given.insert(key.name)
      } catch {
        throw Invalid(description: "cannot use the variable \(key.variable): \(error)")
      }
    }
  }

  /// The words of a list: separated by commas, without the white space around them.
  private static func words(_ text: String) -> [String] {
    text.split(separator: ",", omittingEmptySubsequences: false).map { word in
      String(word.trimming(while: \.isWhitespace))
    }
  }
}
