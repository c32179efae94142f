/// What the transfers of one loop tell it, and what they know of it. Used on the loop's thread only.
final class LoopState {
  /// Transfers that run.
  var transferCount = 0
  /// When the silence of servers has to be examined; `nil` without transfers of which libcurl has no timer.
  private(set) var silenceEnd: ContinuousClock.Instant?

  /// Asks for an examination at this time at the latest.
  func examineSilence(at time: ContinuousClock.Instant) { silenceEnd = min(silenceEnd ?? time, time) }

  /// Whether it is time for the examination. Then every transfer has to ask for the next one.
  func isSilenceDue() -> Bool {
    guard let due = silenceEnd, due <= .now else { return false }
    silenceEnd = nil
    return true
  }

  /// Milliseconds until the silence has to be examined.
  var pause: Int32 {
    guard let silenceEnd else { return WaitingTransfers.forever }
    return Int32(
      clamping: max(0, (ContinuousClock.now.duration(to: silenceEnd) + .microseconds(999)).wholeMilliseconds))
  }
}
