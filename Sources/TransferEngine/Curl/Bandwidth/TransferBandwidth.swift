import CCurl

/// A transfer's part of the session's bandwidth: at each piece of a body it asks whether the transfer may move bytes, and
/// puts it among those that wait. Used on the transfer loop's thread only.
final class TransferBandwidth {
  private let limits: BandwidthLimits
  private let waiting: WaitingTransfers
  private(set) var down: BandwidthLedger.ShareID?
  private(set) var up: BandwidthLedger.ShareID?
  /// libcurl has paused the transfer until there is bandwidth.
  private(set) var isWaiting = false

  init(_ limits: BandwidthLimits, _ waiting: WaitingTransfers) {
    self.limits = limits
    self.waiting = waiting
  }

  /// Joins the buckets with a limit. May be called again when another bucket has got one.
  /// - Returns: whether a limit applies.
  func join(_ request: WireRequest) -> Bool {
    let (rate, isSending) = (request.limitRate, request.isSending)
    let hasBody = isSending || request.body != nil
    // The request's own limit is joined once.
    let isNew = down == nil && up == nil
    down = limits.join(request.bandwidthBuckets, own: isNew && !isSending ? rate : nil, .down, replacing: down)
    if hasBody {
      up = limits.join(request.bandwidthBuckets, own: isNew && isSending ? rate : nil, .up, replacing: up)
    }
    return down != nil || up != nil
  }

  func leave() {
    if let down { limits.leave(down, .down) }
    if let up { limits.leave(up, .up) }
    (down, up) = (nil, nil)
  }

  /// Bytes that libcurl reads at a time. A paused transfer keeps what it has read in memory, and many small pieces are
  /// divided more evenly than a few large ones. libcurl delivers at most 16 KiB at a time (CURL_MAX_WRITE_SIZE).
  var bufferSize: Int {
    guard let limit = down.flatMap({ limits.lowestLimit($0, .down) }) else { return Transfer.bufferSize }
    return Int(min(max(limit / 256, min(4096, max(1024, limit / 4))), Int64(Transfer.bufferSize)))
  }

  // MARK: Called while libcurl works

  func mayReceive(_ transfer: Transfer) -> Bool {
    guard let down, limits.allowance(down, .down) == 0 else { return true }
    wait(transfer, .down)
    return false
  }

  func didReceive(_ count: Int) {
    if let down { limits.take(count, down, .down) }
  }

  /// The part of the buffer that may be filled now; `nil` if the transfer has to wait.
  func room(_ transfer: Transfer, in buffer: UnsafeMutableRawBufferPointer) -> UnsafeMutableRawBufferPointer? {
    guard let up else { return buffer }
    let count = limits.allowance(up, .up)
    guard count > 0 else {
      wait(transfer, .up)
      return nil
    }
    return UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(count))
  }

  func didSend(_ count: Int) {
    if let up { limits.take(count, up, .up) }
  }

  private func wait(_ transfer: Transfer, _ direction: BandwidthLimits.Direction) {
    guard !isWaiting else { return }
    isWaiting = true
    waiting.append(transfer, due: limits.nextDivision(direction) ?? .now + BandwidthLedger.interval)
    // libcurl must not count the pause as a stall.
    transfer.handle.set(CURLOPT_LOW_SPEED_LIMIT, 0)
  }

  // MARK: Between two turns

  /// Whether a waiting transfer may go on.
  func stopsWaiting(_ transfer: Transfer) -> Bool {
    isWaiting = false
    if let down, limits.allowance(down, .down) == 0 {
      wait(transfer, .down)
      return false
    }
    if let up, limits.allowance(up, .up) == 0 {
      wait(transfer, .up)
      return false
    }
    if transfer.request.stallTimeout != nil { transfer.handle.set(CURLOPT_LOW_SPEED_LIMIT, transfer.stallSpeed) }
    return true
  }
}

extension Transfer {
  static let bufferSize = 256 * 1024

  /// Bytes per second below which the transfer counts as stalled. A slow response is progress; keep-alive bytes are not.
  var stallSpeed: Int { bandwidth == nil ? 8 : 1 }

  /// Joins the buckets of the session's limits that apply to the transfer.
  func join(_ limits: BandwidthLimits, _ waiting: WaitingTransfers) {
    guard bandwidth != nil || request.limitRate != nil || limits.isLimiting else { return }
    let joined = bandwidth ?? TransferBandwidth(limits, waiting)
    bandwidth = joined.join(request) ? joined : nil
  }

  func leaveBandwidth() {
    bandwidth?.leave()
    bandwidth = nil
  }

  func stopsWaiting() -> Bool { bandwidth?.stopsWaiting(self) ?? true }
}
