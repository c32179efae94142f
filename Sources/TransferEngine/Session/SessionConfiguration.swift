public import HTTPTypes

/// What holds for all requests of a session.
public struct SessionConfiguration: Sendable {
  /// Sent with every request unless the request has a field of the same name.
  public var defaultHeaders: HTTPFields
  public var connectTimeout: Duration = .seconds(30)
  /// Without progress for this long a transfer has stalled; `nil` waits for ever.
  public var stallTimeout: Duration? = .seconds(30)
  /// Idle connections kept for later requests.
  public var maximumIdleConnections = 64
  /// A larger body of a `DataRequest` is an error.
  public var maximumBodyBytes = 64 << 20
  /// Requests begin when their outcome is first asked for, by a handler or by `await`, without `resume()`.
  public var startRequestsImmediately = true
  /// All requests go through this Unix socket, whatever host their URL names (`CURLOPT_UNIX_SOCKET_PATH(3)`).
  public var unixSocketPath: String?
  /// A PEM bundle instead of the system's roots.
  public var certificateAuthorityFile: String?

  public init() {
    defaultHeaders = [.userAgent: "TransferEngine/0.1 libcurl/\(CurlLibrary.version)", .accept: "*/*"]
  }
}
