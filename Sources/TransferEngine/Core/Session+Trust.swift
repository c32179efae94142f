import Logging
import Synchronization

/// Server trust and client certificates of one transfer.
extension Session {
  /// Schemes that use TLS.
  private static let tlsSchemes: Set<String> = ["https", "ftps", "ftpes"]

  func applyProxy(to wire: inout WireRequest, _ request: TransferRequest) {
    guard configuration.unixSocketPath == nil,
      let proxy = (request.connection.proxy ?? configuration.proxy)?.server(for: request.url)
    else { return }
    wire.proxy = proxy
    guard proxy.kind == .https, let serverTrustManager else { return }
    wire.proxyTrust = Self.policy(serverTrustManager, proxy.host)
  }

  private static func policy(
    _ manager: ServerTrustManager, _ host: String
  ) -> Result<TrustPolicy, TransferError> {
    Result { () throws(TransferError) in try manager.policy(forHost: host) }
  }

  func applyTrust(to wire: inout WireRequest, _ request: TransferRequest) {
    wire.minimumTLSVersion = configuration.minimumTLSVersion
    guard Self.tlsSchemes.contains(request.url.scheme) else { return }
    wire.clientIdentity = request.connection.clientIdentity ?? configuration.clientIdentities[request.url]
    if let trust = request.connection.trust {
      wire.trust = .success(trust)
      return
    }
    guard let serverTrustManager else { return }
    wire.trust = Self.policy(serverTrustManager, request.url.host)
  }

  /// Warns once for each host whose identity is not verified.
  func reportSkippedTrust(_ request: TransferRequest, _ id: RequestID) {
    guard Self.tlsSchemes.contains(request.url.scheme),
      let policy = request.connection.trust ?? (try? serverTrustManager?.policy(forHost: request.url.host)),
      policy.provesNothing,
      hostsReported.withLock({ $0.insert(request.url.host).inserted })
    else { return }
    Logger(label: "TransferEngine").warning(
      "the server's identity is not verified: an attacker on the network can read and change everything",
      metadata: ["host": "\(request.url.host)"])
    notify(id, .skipServerTrust(host: request.url.host))
  }
}
