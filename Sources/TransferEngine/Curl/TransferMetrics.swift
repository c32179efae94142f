import CCurl

/// What one transfer cost, as libcurl measured it (`curl_easy_getinfo(3)`). Redirects and questions asked again are transfers
/// of their own. Times are since the transfer's start, each including those before it.
public struct TransferMetrics: Sendable, Equatable {
  /// Waited for a connection before it began; `nil` where libcurl does not say, below 8.6.
  public var queued: Duration?
  /// Until the host's name was resolved (`CURLINFO_NAMELOOKUP_TIME_T`).
  public var nameLookup: Duration
  /// Until TCP was connected, to a proxy where there is one (`CURLINFO_CONNECT_TIME_T`).
  public var connect: Duration
  /// Zero without TLS.
  public var tls: Duration
  /// The connection, TLS included, was ready for the request.
  public var ready: Duration
  /// Until the first byte of the answer's head (`CURLINFO_STARTTRANSFER_TIME_T`).
  public var firstByte: Duration
  /// Until libcurl was done (`CURLINFO_TOTAL_TIME_T`).
  public var total: Duration
  /// Body bytes that arrived.
  public var bytesReceived: Int64
  /// Body bytes that were sent.
  public var bytesSent: Int64
  /// Bytes of the heads that arrived, interim ones included, before any compression by HTTP/2.
  public var headerBytesReceived: Int64
  /// Bytes of the requests' heads; libcurl counts a body with them that is sent in the same write.
  public var headerBytesSent: Int64
  /// The last status; for FTP the last reply code. `nil` without one.
  public var status: Int?
  /// Who answered, `192.0.2.1:443` or `[2001:db8::1]:443`; the proxy's where there is one. `nil` without a
  /// connection.
  public var remoteAddress: String?
  /// Our own end of the connection, in the same form.
  public var localAddress: String?
  /// `http/1.0`, `http/1.1`, `h2`, `h3`.
  public var networkProtocol: String?
  /// `TLSv1.2`, `TLSv1.3`; `nil` without TLS, and where libcurl uses another library than OpenSSL.
  public var tlsVersion: String?
  /// The IANA name: `TLS_AES_256_GCM_SHA384`; `nil` like `tlsVersion`.
  public var tlsCipher: String?
  /// No connection was made for this transfer (`CURLINFO_NUM_CONNECTS`).
  public var isConnectionReused: Bool

  /// A transfer that cost nothing; for programs that make such values themselves.
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
    var text = status.map { "\($0)" } ?? "no answer"
    if let networkProtocol { text += " by \(networkProtocol)" }
    if let remoteAddress { text += " from \(remoteAddress)" }
    if let tlsVersion { text += " (\(tlsVersion))" }
    text += ": \(bytesReceived) bytes received, \(bytesSent) sent in \(Self.seconds(total)) s"
    if isConnectionReused { return text + " on a connection that was there; first byte \(Self.seconds(firstByte))" }
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
  /// Redirects that were answered among these transfers.
  public var redirectCount: Int { count { $0.isRedirect } }

  /// What they took.
  // checked: times that passed
  public var redirectTime: Duration { filter(\.isRedirect).reduce(.zero) { $0 + $1.total } }
}

extension TransferMetrics {
  fileprivate var isRedirect: Bool { status.map { ResponseHead(status: $0).isRedirect } ?? false }
}
