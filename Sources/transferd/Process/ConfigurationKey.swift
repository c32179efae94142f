import Glibc
import Logging
import TransferAPI
import TransferEngine
import WireValues

/// A setting of the daemon: its name, its allowed values and the property that it changes.
///
/// `all` lists every setting. packaging/transferd.yaml documents them for users.
struct ConfigurationKey: Sendable {
  /// The key below `transferd:` in the file. A key in a section is written `section.key`.
  let name: String
  /// Describes the allowed values in error messages, after "must be".
  let allowed: String
  /// Whether the value is a list.
  var isList = false
  /// Whether the value may be a secret, or hold one by mistake. Then no error shows it.
  var isPrivate = false
  let assign: @Sendable (ConfigurationFile.Value, inout DaemonConfiguration) throws(DaemonConfiguration.Invalid) -> Bool

  static let all: [ConfigurationKey] =
    limitKeys + storageKeys + webhookKeys + [
      number("maxActive", DaemonConfiguration.activeRange) { $0.limits.queue.admission.maxActive = $1 },
      scalar("maxPerOrigin", "auto or a whole number from 1 to \(DaemonConfiguration.activeRange.upperBound)") {
        $0.limits.queue.admission.maxPerOrigin = $1
      } _: {
        PerOriginLimit($0, in: DaemonConfiguration.activeRange)
      },
      number("maxAttempts", 1...10_000) { $0.limits.maxAttempts = $1 },
      duration("connectTimeout") { $0.limits.timeouts.connect = $1 },
      duration("stallTimeout") { $0.limits.timeouts.stall = $1 },
      number("historyDays", 0...36_500) { $0.historyDays = $1 },
      word("logLevel", Logger.Level.allCases) { $0.logLevel = $1 },
      file("certificateAuthorityFile") { $0.certificateAuthorityFile = $1 },
      text("socketGroup", "the name of a group") { $0.socketGroup = $1 },
      word("redirects", RedirectPolicy.allCases) { $0.network.redirects = $1 },
      scalar("proxy", "none, environment, or a URL: http, https, socks5 or socks5h://HOST:PORT", isPrivate: true) {
        $0.proxy.source = $1
      } _: {
        ProxySetting.source($0)
      },
      scalar("proxyCredentials", "netrc, env:NAME, file:PATH or exec:COMMAND", isPrivate: true) {
        $0.proxy.credentials = $1
      } _: {
        try? SecretReference(parsing: $0)
      },
      hosts("noProxy") { $0.proxy.exceptions = $1 },
      directories("memberReadRoots") { $0.memberRoots.read = $1 },
      directories("memberWriteRoots") { $0.memberRoots.write = $1 },
      word("sshHostKeys", RemoteAccess.HostKeys.allCases) { $0.remote.ssh.hostKeyPolicy = $1.policy },
      path("sshKnownHosts") { $0.remote.ssh.knownHostsFiles = [$1] },
      file("sshPrivateKey") { $0.remote.ssh.privateKeyFile = $1 },
      word("ftpSecurity", RemoteAccess.FTPLevel.allCases) { $0.remote.ftpSecurity = $1.security },
      command("hooks.onComplete") { $0.limits.hooks.onComplete = $1 },
      command("hooks.onFailure") { $0.limits.hooks.onFailure = $1 },
      command("hooks.onBatchEnd") { $0.limits.hooks.onBatchEnd = $1 },
      duration("hooks.timeout") { $0.limits.hooks.timeout = $1 },
      variables("passEnvironment") { $0.passEnvironment = $1 },
    ]

  static func named(_ name: String) -> ConfigurationKey? { all.first { $0.name == name } }

  /// The names of the keys and subsections in a section; `""` is the top section.
  static func names(in section: String) -> [String] {
    var names: [String] = []
    for key in all where key.name.hasPrefix(section) {
      let name = String(key.name.dropFirst(section.count).prefix { $0 != "." })
      if !names.contains(name) { names.append(name) }
    }
    return names
  }

  /// The environment variable of this setting: `TRANSFERD_MAX_ACTIVE` for `maxActive`.
  var variable: String {
    var result = "TRANSFERD_"
    for character in name {
      if character.isUppercase { result += "_" }
      result += character == "." ? "_" : character.uppercased()
    }
    return result
  }

  /// Sets the property to a value.
  /// - Throws: an error that describes the wrong value.
  func apply(
    _ value: ConfigurationFile.Value, to configuration: inout DaemonConfiguration
  ) throws(DaemonConfiguration.Invalid) {
    guard try !assign(value, &configuration) else { return }
    let given =
      switch value {
      case .scalar where isPrivate, .list where isList, .mappings where isList: "cannot be used; it"
      case .scalar(let text): "is \"\(text)\"; it"
      case .list, .mappings: "is a list; it"
      case .nothing: "has no value; it"
      }
    throw DaemonConfiguration.Invalid(description: "\(name) \(given) must be \(allowed)")
  }

  // MARK: Value types

  typealias Change<Value> = @Sendable (inout DaemonConfiguration, Value) -> Void

  private static func number(
    _ name: String, _ range: ClosedRange<Int>, _ change: @escaping Change<Int>
  ) -> ConfigurationKey {
    scalar(name, "a whole number from \(range.lowerBound) to \(range.upperBound)", change) { text in
      Int(text).flatMap { range.contains($0) ? $0 : nil }
    }
  }

  private static func duration(_ name: String, _ change: @escaping Change<Duration>) -> ConfigurationKey {
    scalar(name, "a time above 0, at most 366d, like 30, 30s, 5m, 2h or 500ms", change) { TimeSpan($0)?.duration }
  }

  private static func word<Word: RawRepresentable<String> & Sendable>(
    _ name: String, _ words: [Word], _ change: @escaping Change<Word>
  ) -> ConfigurationKey {
    scalar(name, "one of \(words.map(\.rawValue).joined(separator: ", "))", change) { Word(rawValue: $0) }
  }

  private static func file(_ name: String, _ change: @escaping Change<String>) -> ConfigurationKey {
    scalar(name, "the absolute path of a readable file", change) { path in
      path.isAbsolutePath && access(path, R_OK) == 0 ? path : nil
    }
  }

  /// The path of a file that may not exist yet.
  private static func path(_ name: String, _ change: @escaping Change<String>) -> ConfigurationKey {
    scalar(name, "the absolute path of a file", change) { $0.isAbsolutePath ? $0 : nil }
  }

  private static func text(
    _ name: String, _ allowed: String, _ change: @escaping Change<String>
  ) -> ConfigurationKey {
    scalar(name, allowed, change) { $0.isEmpty ? nil : $0 }
  }

  /// A list of directories, which may not exist yet.
  private static func directories(_ name: String, _ change: @escaping Change<[String]>) -> ConfigurationKey {
    let allowed = "a list of absolute paths of directories, without . and .."
    return ConfigurationKey(name: name, allowed: allowed, isList: true) { value, configuration in
      guard case .list(let paths) = value else { return false }
      let areUsable = paths.allSatisfy { path in
        path.isAbsolutePath && !path.componentsOfPath.contains { $0 == "." || $0 == ".." }
      }
      guard areUsable else { return false }
      change(&configuration, paths)
      return true
    }
  }

  /// A program with its arguments. No shell interprets the words.
  private static func command(_ name: String, _ change: @escaping Change<Command>) -> ConfigurationKey {
    let allowed = "a list of words, the first of them a program's absolute path"
    return ConfigurationKey(name: name, allowed: allowed, isList: true) { value, configuration in
      guard case .list(let words) = value, words.first?.isAbsolutePath ?? false else { return false }
      change(&configuration, Command(arguments: words))
      return true
    }
  }

  /// Hosts with a direct connection.
  private static func hosts(_ name: String, _ change: @escaping Change<[String]>) -> ConfigurationKey {
    let allowed = "a list of hosts, like example.org, *.example.org, 192.0.2.0/24 or host:8080"
    return ConfigurationKey(name: name, allowed: allowed, isList: true) { value, configuration in
      guard case .list(let hosts) = value, hosts.allSatisfy(NoProxyList.isValid) else { return false }
      change(&configuration, hosts)
      return true
    }
  }

  private static func variables(_ name: String, _ change: @escaping Change<[String]>) -> ConfigurationKey {
    let allowed = "a list of names of variables, none of them NOTIFY_SOCKET, WATCHDOG_… or LISTEN_…"
    return ConfigurationKey(name: name, allowed: allowed, isList: true) { value, configuration in
      guard case .list(let names) = value, names.allSatisfy(ChildEnvironment.isPassable) else { return false }
      change(&configuration, names)
      return true
    }
  }

  static func scalar<Value>(
    _ name: String, _ allowed: String, isPrivate: Bool = false, _ change: @escaping Change<Value>,
    _ parse: @escaping @Sendable (String) -> Value?
  ) -> ConfigurationKey {
    ConfigurationKey(name: name, allowed: allowed, isPrivate: isPrivate) { value, configuration in
      guard case .scalar(let text) = value, let parsed = parse(text) else { return false }
      change(&configuration, parsed)
      return true
    }
  }
}

extension ConfigurationKey: Equatable {
  static func == (lhs: ConfigurationKey, rhs: ConfigurationKey) -> Bool { lhs.name == rhs.name }
}
