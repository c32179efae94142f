import FoundationEssentials
import HTTPTypes
import WireValues

/// Passes the response of one transfer to the channel, unless it is a redirect or a validation refuses it.
///
/// `@unchecked Sendable`: used on the transfer loop's thread while the transfer runs and read afterwards; the loop's
/// continuation separates the two.
final class StreamReceiver: TransferReceiver, @unchecked Sendable {
  private let channel: StreamChannel
  private let check: @Sendable (ResponseHead) -> TransferError?
  private let isCancelled: @Sendable () -> Bool
  private let progressed: @Sendable (TransferProgress) -> Void
  private var received: Int64 = 0
  private var total: Int64?
  /// Why a validation refused the response.
  private(set) var refusal: TransferError?

  init(
    _ channel: StreamChannel, check: @escaping @Sendable (ResponseHead) -> TransferError?,
    isCancelled: @escaping @Sendable () -> Bool, progressed: @escaping @Sendable (TransferProgress) -> Void
  ) {
    self.channel = channel
    self.check = check
    self.isCancelled = isCancelled
    self.progressed = progressed
  }

  func receive(_ head: ResponseHead) throws(TransferError) -> HeadVerdict {
    // Whether the redirect is followed is decided after the transfer; its body is not needed.
    if head.isRedirect, head.headers[.location] != nil { return .dropBody }
    refusal = check(head)
    guard refusal == nil else { return .dropBody }
    total = (try? head.contentLength()) ?? nil
    channel.take(head)
    return .takeBody
  }

  /// A short time passes until `cancel()` reaches the loop; bytes that arrive in this time are not delivered.
  func receive(_ bytes: UnsafeRawBufferPointer) throws(TransferError) -> BodyVerdict {
    guard !isCancelled() else { throw .cancelled }
    let verdict = channel.take(bytes)
    if case .taken = verdict {
      received = received.saturatingSum(Int64(bytes.count))
      progressed(TransferProgress(completed: received, total: total))
    }
    return verdict
  }
}
