import TransferAPI
import TransferEngine

/// The proxy of a job's requests.
struct ProxyChoice: Equatable, Sendable {
  var configuration = ProxyConfiguration.direct
  /// Where the proxy's user name and password are looked up at each attempt.
  var credentials: SecretReference?

  /// Whether the proxy gets a user name and a password.
  var hasCredentials: Bool {
    let servers = [configuration.http, configuration.https, configuration.other]
    return credentials != nil || servers.contains { $0?.credentials != nil }
  }

  /// No proxy.
  static let direct = ProxyChoice()

  init(_ configuration: ProxyConfiguration = .direct, credentials: SecretReference? = nil) {
    self.configuration = configuration
    self.credentials = credentials
  }

  /// What a job says; `nil`: nothing.
  /// - Throws: `.invalidURL`.
  init?(_ options: JobOptions.Network) throws(TransferError) {
    guard let proxy = options.proxy else { return nil }
    guard proxy != JobOptions.Network.direct else {
      self = .direct
      return
    }
    // The user has named this proxy for this job: the exceptions of the configuration are not meant for it.
    self.init(ProxyConfiguration(try ProxyServer(proxy)), credentials: options.proxyCredentials)
  }
}
