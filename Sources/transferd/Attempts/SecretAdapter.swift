import HTTPTypes
import Store
import TransferAPI
import TransferEngine

/// Adds a job's secrets to its requests. They are resolved again for every attempt.
struct SecretAdapter: RequestInterceptor {
  let credentials: SecretReference?
  let headers: [String: SecretHeader]
  let resolver: SecretResolver

  /// `nil` if the job has no secret references.
  init?(_ spec: JobSpec, _ resolver: SecretResolver) {
    guard spec.options.credentials != nil || !spec.options.secretHeaders.isEmpty else { return nil }
    credentials = spec.options.credentials
    headers = spec.options.secretHeaders
    self.resolver = resolver
  }

  func adapt(_ request: TransferRequest, for session: Session) async throws -> TransferRequest {
    var request = request
    if let credentials { request.credentials = try await resolver.credentials(credentials, for: request.url.host) }
    for (name, header) in headers {
      guard let name = HTTPField.Name(name) else { continue }
      request.headers[name] = header.value(try await resolver.secret(header.reference))
    }
    return request
  }
}
