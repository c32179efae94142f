import TransferAPI
import TransferEngine

/// Adds what is read anew for every attempt to a job's requests: certificates, cookies and the proxy's password.
struct ConnectionAdapter: RequestInterceptor {
  private let options: JobOptions.Network
  private let rules: PathRules
  private let proxy: ProxyChoice
  /// The proxy is the configuration's: its secrets are none of the job's business.
  private let isConfigured: Bool
  private let resolver: SecretResolver

  /// `nil` if there is nothing to read.
  /// - Parameters:
  ///   - rules: where the files may be.
  ///   - proxy: the one that the job uses.
  init?(
    _ options: JobOptions.Network, rules: PathRules, proxy: ProxyChoice, isConfigured: Bool, _ resolver: SecretResolver
  ) {
    guard !options.files.isEmpty || proxy.credentials != nil else { return nil }
    self.options = options
    self.rules = rules
    self.proxy = proxy
    self.isConfigured = isConfigured
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
    if let reference = proxy.credentials, let server = proxy.configuration.server(for: request.url) {
      try await authenticate(&request.connection.proxy, at: server.host, reference)
    }
    return request
  }

  private func authenticate(
    _ proxy: inout ProxyConfiguration?, at host: String, _ reference: SecretReference
  ) async throws {
    let credentials: Credentials
    do {
      credentials = try await resolver.credentials(reference, for: host)
    } catch let error where isConfigured {
      throw SecretResolver.Unavailable(
        description: "the password of the configured proxy is not available", isTransient: error.isTransient)
    }
    proxy?.http?.credentials = credentials
    proxy?.https?.credentials = credentials
    proxy?.other?.credentials = credentials
  }
}
