import HTTPTypes

/// A place from which a file can be fetched.
public struct DownloadSource: Sendable {
  /// What to fetch. `TransferRequest.mirrored(at:)` makes one from the request of another source.
  public var request: TransferRequest
  /// Adapts the request in each attempt, before the session's interceptor. Not asked about retries.
  public var interceptor: (any RequestInterceptor)?
  /// Asked before each connection, unless this is the download's own source; `nil`: every connection is permitted.
  public var permits: (any ConnectionPermits)?

  /// A source that any connection may use, unless there are permits.
  public init(
    request: TransferRequest, interceptor: (any RequestInterceptor)? = nil, permits: (any ConnectionPermits)? = nil
  ) {
    self.request = request
    self.interceptor = interceptor
    self.permits = permits
  }
}

extension TransferRequest {
  /// The same request for another source of its file. What is meant for this origin does not go to another one: credentials,
  /// the client certificate, and each header field that may reveal something about the user. The rules are those of redirects.
  /// Credentials in the URL are sent to it.
  public func mirrored(at url: RequestURL) -> TransferRequest {
    var mirror = self
    mirror.url = url
    if url.origin != self.url.origin {
      mirror.headers = HTTPFields(headers.filter { RedirectRule.harmless.contains($0.name) })
      (mirror.credentials, mirror.credential, mirror.body) = (nil, nil, nil)
      mirror.connection.clientIdentity = nil
      mirror.hasLeftOrigin = true
    }
    if let own = url.credentials { (mirror.credentials, mirror.credential) = (own, nil) }
    return mirror
  }
}
