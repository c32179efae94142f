import CCurl
import Glibc
import HTTPTypes
import WireValues

/// Wakes slow downloads less often: see `ReceivePacing`.
///
/// A paced transfer watches the server's silence itself, because libcurl would wake each transfer once a second for it.
extension Transfer {
  /// Called when bytes of the body were taken. Does nothing in the first second, so small files cost nothing.
  func pace(_ count: Int) {
    bodyTaken = bodyTaken.saturatingSum(Int64(count))
    guard let headAt, let movedAt, headAt.duration(to: movedAt) >= ReceivePacing.window, !pacingIsRuledOut else {
      return
    }
    guard var pacing = pacing ?? makePacing(movedAt) else {
      pacingIsRuledOut = true
      return
    }
    let threshold = pacing.take(count, now: movedAt, interval: pacingInterval)
    self.pacing = pacing
    if let threshold { setThreshold(threshold) }
    if bandwidth != nil {
      stopPacing()
      pacingIsRuledOut = true
    } else if !pacing.isUseful {
      stopPacing()
    } else if pacing.threshold > 1 {
      watchSilence(since: movedAt)
    }
  }

  /// Only bodies whose end is known: the last bytes must not wait for others. Streams of HTTP/2 share their socket.
  private func makePacing(_ now: ContinuousClock.Instant) -> ReceivePacing? {
    guard watchedSocket != nil, remote == nil, reader == nil, pipe == nil, bandwidth == nil, let head = currentHead,
      head.version.hasPrefix("HTTP/1"), head.headers[.transferEncoding] == nil
    else { return nil }
    let length = handle.offset(CURLINFO_CONTENT_LENGTH_DOWNLOAD_T)
    // OpenSSL may have read a part of the last record.
    let unread = isEncrypted ? Self.maximumUnreadRecords : 0
    guard let rest = (CheckedNumber(length) - bodyTaken - unread).nonNegative, rest > 0 else { return nil }
    return ReceivePacing(rest: rest, now: now)
  }

  /// Of the server's connection and of that with a proxy: 16 KiB (RFC 8446 §5.2) and what belongs to them.
  private static let maximumUnreadRecords: Int64 = 64 * 1024

  private var isEncrypted: Bool { !request.url.hasPrefix("http://") || request.proxy?.kind == .https }

  /// How long bytes may wait: less if someone may look at this transfer, and while a server counts as silent soon.
  private var pacingInterval: Duration {
    let interval = loop.transferCount < 100 ? Duration.seconds(1) : .seconds(5)
    return min(interval, (request.stallTimeout ?? .seconds(60)) / 4)
  }

  /// Takes the watch over from libcurl.
  private func watchSilence(since now: ContinuousClock.Instant) {
    guard !isSilenceWatched, let stall = request.stallTimeout else { return }
    isSilenceWatched = true
    handle.set(CURLOPT_LOW_SPEED_LIMIT, 0)
    loop.examineSilence(at: now + stall - pacingInterval)  // checked: a moment of this boot
  }

  /// Gives the watch back to libcurl, which also ends transfers of a few bytes a second.
  private func stopPacing() {
    releaseBytes()
    guard isSilenceWatched else { return }
    isSilenceWatched = false
    if bandwidth?.isWaiting != true { handle.set(CURLOPT_LOW_SPEED_LIMIT, stallSpeed) }
  }

  /// Lets the kernel report what is there. Called when nothing has been reported for long.
  func releaseBytes() {
    guard let pacing, pacing.threshold > 1 else { return }
    self.pacing?.release()
    setThreshold(1)
  }

  private func setThreshold(_ bytes: Int64) {
    guard let watchedSocket else { return }
    var value = Int32(clamping: bytes)
    setsockopt(watchedSocket, SOL_SOCKET, SO_RCVLOWAT, &value, socklen_t(MemoryLayout<Int32>.size))
  }

  /// Ends a silent transfer, or asks for the next examination.
  /// - Returns: whether the transfer has stalled.
  func examineSilence(now: ContinuousClock.Instant) -> Bool {
    guard let end = silenceEnd else { return false }
    if end <= now { return true }
    // What waits in the kernel is reported before the time is over.
    let warning = pacing.map { $0.threshold > 1 } == true ? end - pacingInterval : end  // checked: moments of this boot
    if warning <= now { releaseBytes() }
    loop.examineSilence(at: warning <= now ? end : warning)
    return false
  }
}
