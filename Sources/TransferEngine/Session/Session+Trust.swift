import Logging

/// Server trust, client certificates: what of them one hop needs.
extension Session {
  /// Schemes under which TLS is spoken.
  private static let tlsSchemes: Set<String> = ["https", "ftps", "ftpes"]

  func applyTrust(to wire: inout WireRequest, _ request: TransferRequest) {
    wire.minimumTLSVersion = configuration.minimumTLSVersion
    guard Self.tlsSchemes.contains(request.url.scheme) else { return }
    wire.clientIdentity = configuration.clientIdentities[request.url]
    guard let serverTrustManager else { return }
    do throws(TransferError) {
      wire.trust = .success(try serverTrustManager.policy(forHost: request.url.host))
    } catch {
      wire.trust = .failure(error)
    }
  }

  /// Says aloud, once a host, that whoever answers is believed.
  func reportSkippedTrust(_ request: TransferRequest, _ id: RequestID) {
    guard let serverTrustManager, Self.tlsSchemes.contains(request.url.scheme),
      let policy = try? serverTrustManager.policy(forHost: request.url.host), policy.provesNothing,
      hostsReported.withLock({ $0.insert(request.url.host).inserted })
    else { return }
    Logger(label: "TransferEngine").warning(
      "the server's identity is not verified: whoever sits between can read and change all",
      metadata: ["host": "\(request.url.host)"])
    notify(id, .skipServerTrust(host: request.url.host))
  }
}
