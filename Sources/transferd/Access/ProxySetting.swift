import TransferAPI
import TransferEngine

/// The configuration's proxy, for jobs that name none.
struct ProxySetting: Equatable, Sendable {
  enum Source: Equatable, Sendable {
    case direct
    /// The variables `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` of the daemon.
    case environment
    case server(ProxyServer)
  }

  var source = Source.direct
  /// Hosts with a direct connection.
  var exceptions: [String] = []
  var credentials: SecretReference?

  /// Reads `none`, `environment` or a URL; `nil` for anything else.
  static func source(_ text: String) -> Source? {
    switch text {
    case "none": .direct
    case "environment": .environment
    default: text.contains("://") ? (try? ProxyServer(text)).map { .server($0) } : nil
    }
  }

  /// - Throws: `.invalidURL` for a variable that does not hold a proxy.
  func choice(environment: [String: String]) throws(TransferError) -> ProxyChoice {
    let noProxy = NoProxyList(exceptions)
    switch source {
    case .direct: return .direct
    case .server(let server):
      return ProxyChoice(ProxyConfiguration(server, noProxy: noProxy), credentials: credentials)
    case .environment:
      var configuration = try ProxyConfiguration.environment(environment)
      if !exceptions.isEmpty { configuration.noProxy = noProxy }
      return ProxyChoice(configuration)
    }
  }
}
