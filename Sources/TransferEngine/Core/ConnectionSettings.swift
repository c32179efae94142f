/// How a request reaches its server, where this differs from the session's configuration. Applies to every hop: redirects keep
/// it, except the client certificate, which stays with its origin.
public struct ConnectionSettings: Hashable, Sendable {
  /// Which proxy is used; `nil`: the session's. `.direct`: none.
  public var proxy: ProxyConfiguration?
  /// Neither takes a connection that other requests have made, nor leaves one to them. libcurl shares the tunnels of a proxy
  /// among requests with different user names.
  public var isolatesConnection = false
  /// Connects over this version of IP only (`CURLOPT_IPRESOLVE(3)`); `nil`: over both.
  public var ipVersion: IPVersion?
  /// The network interface by which every connection of the request leaves (`CURLOPT_INTERFACE(3)`); `nil`: the routes decide.
  /// While it does not exist, the request fails with `.interfaceMissing`. Use it with `isolatesConnection`: libcurl lends a
  /// connection of an interface to requests that name none.
  public var interface: String?
  /// The newest version of HTTP that is used; `nil`: what server and libcurl agree on.
  public var maximumHTTPVersion: HTTPVersion?
  /// Hosts that are reached at a given address, without a look at the DNS.
  public var hostAddresses: [HostAddress] = []
  /// How servers prove their identity, instead of what the session's `ServerTrustManager` says. Not used for proxies.
  public var trust: TrustPolicy?
  /// Presented to the server of the request's URL if it asks for a certificate.
  public var clientIdentity: ClientIdentity?
  /// Sent to the servers that they are for, unless the request has a field `Cookie`.
  public var cookies: [Cookie] = []

  /// No difference from the session.
  public init() {}
}
