import CCurl

/// What one transfer cost, as libcurl measured it (`curl_easy_getinfo(3)`). Times are since the transfer's start.
public struct TransferMetrics: Sendable, Equatable {
  public var nameLookup: Duration
  public var connect: Duration
  /// Zero without TLS.
  public var tls: Duration
  public var firstByte: Duration
  public var total: Duration
  /// Body bytes that arrived.
  public var bytesReceived: Int64
  /// Body bytes that were sent.
  public var bytesSent: Int64
  public var remoteAddress: String?
  /// `http/1.0`, `http/1.1`, `h2`, `h3`.
  public var networkProtocol: String?
  public var isConnectionReused: Bool

  init(of handle: EasyHandle) {
    func time(_ info: CURLINFO) -> Duration { .microseconds(handle.offset(info)) }
    nameLookup = time(CURLINFO_NAMELOOKUP_TIME_T)
    connect = time(CURLINFO_CONNECT_TIME_T)
    tls = time(CURLINFO_APPCONNECT_TIME_T)
    firstByte = time(CURLINFO_STARTTRANSFER_TIME_T)
    total = time(CURLINFO_TOTAL_TIME_T)
    bytesReceived = handle.offset(CURLINFO_SIZE_DOWNLOAD_T)
    bytesSent = handle.offset(CURLINFO_SIZE_UPLOAD_T)
    let port = handle.long(CURLINFO_PRIMARY_PORT)
    remoteAddress = handle.string(CURLINFO_PRIMARY_IP).flatMap { ip in
      ip.isEmpty ? nil : ip.contains(":") ? "[\(ip)]:\(port)" : "\(ip):\(port)"
    }
    networkProtocol =
      switch handle.long(CURLINFO_HTTP_VERSION) {
      case 1: "http/1.0"
      case 2: "http/1.1"
      case 3: "h2"
      case 30: "h3"
      default: nil
      }
    isConnectionReused = handle.long(CURLINFO_NUM_CONNECTS) == 0
  }
}
