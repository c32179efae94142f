import CCurl

/// The costs of one transfer, measured by libcurl (`curl_easy_getinfo(3)`). Redirects and repeated requests are
/// transfers of their own. Times count from the start of the transfer; each includes those before it.
public struct TransferMetrics: Sendable, Equatable {
  /// The time spent waiting for a connection; `nil` if libcurl does not report it (below 8.6).
  public var queued: Duration?
  /// The time until the host's name was resolved (`CURLINFO_NAMELOOKUP_TIME_T`).
  public var nameLookup: Duration
  /// The time until TCP was connected, to the proxy if there is one (`CURLINFO_CONNECT_TIME_T`).
  public var connect: Duration
  /// The time until the TLS handshake was complete; zero without TLS.
  public var tls: Duration
  /// The time until the connection, including TLS, was ready for the request.
  public var ready: Duration
  /// The time until the first byte of the response (`CURLINFO_STARTTRANSFER_TIME_T`).
  public var firstByte: Duration
  /// The time until the end (`CURLINFO_TOTAL_TIME_T`).
  public var total: Duration
  /// Body bytes that arrived.
  public var bytesReceived: Int64
  /// Body bytes that were sent.
  public var bytesSent: Int64
  /// Bytes of the heads that arrived, including interim ones, before HTTP/2's compression.
  public var headerBytesReceived: Int64
  /// Bytes of the requests' heads; libcurl also counts a body that is sent in the same write.
  public var headerBytesSent: Int64
  /// The last status; for FTP the last reply code; `nil` without one.
  public var status: Int?
  /// The address of the server, or of the proxy if there is one: `192.0.2.1:443` or `[2001:db8::1]:443`. `nil` without
  /// a connection.
  public var remoteAddress: String?
  /// The local address of the connection, in the same format.
  public var localAddress: String?
  /// `http/1.0`, `http/1.1`, `h2`, `h3`.
  public var networkProtocol: String?
  /// `TLSv1.2`, `TLSv1.3`; `nil` without TLS, and if libcurl does not use OpenSSL.
  public var tlsVersion: String?
  /// The IANA name: `TLS_AES_256_GCM_SHA384`; `nil` like `tlsVersion`.
  public var tlsCipher: String?
  /// Whether no connection was made for this transfer (`CURLINFO_NUM_CONNECTS`).
  public var isConnectionReused: Bool
  /// The body ended with the connection, without TLS's notice of that: it may be cut off (RFC 9112 §9.8).
  var isEndMissing = false

  /// A transfer without costs; for programs that create such values themselves.
  public init() {
    (nameLookup, connect, tls, ready, firstByte, total) = (.zero, .zero, .zero, .zero, .zero, .zero)
    (bytesReceived, bytesSent, headerBytesReceived, headerBytesSent) = (0, 0, 0, 0)
    isConnectionReused = false
  }

  init(of handle: EasyHandle, tls session: TLSSession? = nil) {
    self.init()
    func time(_ info: CURLINFO) -> Duration { .microseconds(handle.offset(info)) }
    queued = handle.queueTime
    nameLookup = time(CURLINFO_NAMELOOKUP_TIME_T)
    connect = time(CURLINFO_CONNECT_TIME_T)
    tls = time(CURLINFO_APPCONNECT_TIME_T)
    ready = time(CURLINFO_PRETRANSFER_TIME_T)
    firstByte = time(CURLINFO_STARTTRANSFER_TIME_T)
    total = time(CURLINFO_TOTAL_TIME_T)
    bytesReceived = handle.offset(CURLINFO_SIZE_DOWNLOAD_T)
    bytesSent = handle.offset(CURLINFO_SIZE_UPLOAD_T)
    headerBytesReceived = Int64(handle.long(CURLINFO_HEADER_SIZE))
    headerBytesSent = Int64(handle.long(CURLINFO_REQUEST_SIZE))
    status = handle.long(CURLINFO_RESPONSE_CODE)
    if status == 0 { status = nil }
    remoteAddress = Self.address(handle.string(CURLINFO_PRIMARY_IP), handle.long(CURLINFO_PRIMARY_PORT))
    localAddress = Self.address(handle.string(CURLINFO_LOCAL_IP), handle.long(CURLINFO_LOCAL_PORT))
    networkProtocol =
      switch handle.long(CURLINFO_HTTP_VERSION) {
      case 1: "http/1.0"
      case 2: "http/1.1"
      case 3: "h2"
      case 30: "h3"
      default: nil
      }
    tlsVersion = session?.version
    tlsCipher = session?.cipher
    isConnectionReused = handle.long(CURLINFO_NUM_CONNECTS) == 0
  }

  private static func address(_ ip: String?, _ port: Int) -> String? {
    ip.flatMap { ip in ip.isEmpty ? nil : ip.contains(":") ? "[\(ip)]:\(port)" : "\(ip):\(port)" }
  }
}

extension EasyHandle {
  fileprivate var queueTime: Duration? {
    var value: curl_off_t = 0
    let info = CURLINFO(rawValue: TRANSFER_INFO_QUEUE_TIME)
    return transfer_getinfo_offset(pointer, info, &value) == CURLE_OK ? .microseconds(Int64(value)) : nil
  }
}

extension TransferMetrics: CustomStringConvertible {
  /// One line: `200 by h2 from 192.0.2.1:443 (TLSv1.3): 1024 bytes in 0.150 s; name 0.010, connect 0.030, TLS 0.060, …`
  public var description: String {
    var text = status.map { "\($0)" } ?? "no response"
    if let networkProtocol { text += " by \(networkProtocol)" }
    if let remoteAddress { text += " from \(remoteAddress)" }
    if let tlsVersion { text += " (\(tlsVersion))" }
    text += ": \(bytesReceived) bytes received, \(bytesSent) sent in \(Self.seconds(total)) s"
    if isConnectionReused { return text + " on a reused connection; first byte \(Self.seconds(firstByte))" }
    return text
      + "; name \(Self.seconds(nameLookup)), connect \(Self.seconds(connect)), TLS \(Self.seconds(tls)), "
      + "first byte \(Self.seconds(firstByte))"
  }

  private static func seconds(_ time: Duration) -> String {
    let milliseconds = max(0, time.wholeMilliseconds)
    let rest = "\(milliseconds % 1000)"
    return "\(milliseconds / 1000)." + String(repeating: "0", count: 3 - rest.count) + rest
  }
}

extension Sequence<TransferMetrics> {
  /// The number of redirects among these transfers.
  public var redirectCount: Int { count { $0.isRedirect } }

  /// The time that redirects took.
  // checked: times that passed
  public var redirectTime: Duration { filter(\.isRedirect).reduce(.zero) { $0 + $1.total } }
}

extension TransferMetrics {
  fileprivate var isRedirect: Bool { status.map { ResponseHead(status: $0).isRedirect } ?? false }
}
