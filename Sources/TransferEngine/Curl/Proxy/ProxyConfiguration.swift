public import FoundationEssentials

/// Which proxy a request uses. Without a configuration, a session connects directly, whatever the environment says.
public struct ProxyConfiguration: Hashable, Sendable {
  /// For `http:` URLs.
  public var http: ProxyServer?
  /// For `https:` URLs.
  public var https: ProxyServer?
  /// For all other schemes: ftp, sftp.
  public var other: ProxyServer?
  /// Hosts with a direct connection.
  public var noProxy: NoProxyList

  /// A proxy for each scheme, `nil` for none, and the hosts with a direct connection.
  public init(
    http: ProxyServer? = nil, https: ProxyServer? = nil, other: ProxyServer? = nil, noProxy: NoProxyList = []
  ) {
    self.http = http
    self.https = https
    self.other = other
    self.noProxy = noProxy
  }

  /// One proxy for all schemes.
  public init(_ server: ProxyServer, noProxy: NoProxyList = []) {
    self.init(http: server, https: server, other: server, noProxy: noProxy)
  }

  /// The proxies of `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`, in lower case or, except the first, in
  /// upper case: a web server sets `HTTP_PROXY` from a client's `Proxy` field (CVE-2016-5385).
  /// - Throws: `.invalidURL` for a variable that does not contain a proxy.
  public static func environment(
    _ variables: [String: String] = ProcessInfo.processInfo.environment
  ) throws(TransferError) -> ProxyConfiguration {
    func server(_ names: String...) throws(TransferError) -> ProxyServer? {
      guard let text = names.lazy.compactMap({ variables[$0] }).first, !text.isEmpty else { return nil }
      return try ProxyServer(text)
    }
    let all = try server("all_proxy", "ALL_PROXY")
    return ProxyConfiguration(
      http: try server("http_proxy") ?? all, https: try server("https_proxy", "HTTPS_PROXY") ?? all, other: all,
      noProxy: NoProxyList(parsing: variables["no_proxy"] ?? variables["NO_PROXY"] ?? ""))
  }

  /// A direct connection for all URLs.
  public static let direct = ProxyConfiguration()

  /// The proxy for a URL; `nil` for none.
  public func server(for url: RequestURL) -> ProxyServer? {
    let server: ProxyServer? =
      switch url.scheme {
      case "http": http
      case "https": https
      default: other
      }
    guard let server, !noProxy.contains(host: url.host, port: url.port) else { return nil }
    return server
  }
}
