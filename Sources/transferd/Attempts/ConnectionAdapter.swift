import TransferAPI
import TransferEngine

/// Adds what is read anew for every attempt to a job's requests: certificates, cookies and the proxy's password.
struct ConnectionAdapter: RequestInterceptor {
  private let options: JobOptions.Network
  private let rules: PathRules
  private let proxyCredentials: SecretReference?
  private let resolver: SecretResolver

  /// `nil` if there is nothing to read.
  /// - Parameters:
  ///   - rules: where the files may be.
  ///   - proxyCredentials: those of the proxy that the job uses.
  init?(
    _ options: JobOptions.Network, rules: PathRules, proxyCredentials: SecretReference?, _ resolver: SecretResolver
  ) {
    guard !options.files.isEmpty || proxyCredentials != nil else { return nil }
    self.options = options
    self.rules = rules
    self.proxyCredentials = proxyCredentials
    self.resolver = resolver
  }

  func adapt(_ request: TransferRequest, for session: Session) async throws -> TransferRequest {
    var request = request
    let files = try await BlockingWork.run { [options, rules] in
      Result { () throws(ConnectionFiles.Unusable) in try ConnectionFiles(options, rules: rules) }
    }.get()
    if let trust = files.trust { request.connection.trust = trust }
    request.connection.clientIdentity = files.identity
    request.connection.cookies = files.cookies
    if let proxyCredentials { try await authenticate(&request.connection.proxy, proxyCredentials) }
    return request
  }

  private func authenticate(_ proxy: inout ProxyConfiguration?, _ reference: SecretReference) async throws {
    guard let host = (proxy?.https ?? proxy?.http ?? proxy?.other)?.host else { return }
    let credentials = try await resolver.credentials(reference, for: host)
    proxy?.http?.credentials = credentials
    proxy?.https?.credentials = credentials
    proxy?.other?.credentials = credentials
  }
}
