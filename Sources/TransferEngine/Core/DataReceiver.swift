import FoundationEssentials

/// Collects a body in memory, up to a limit, and counts the body that is sent.
///
/// `@unchecked Sendable`: used on the transfer loop's thread while the transfer runs and read afterwards; the loop's
/// continuation separates the two.
final class DataReceiver: TransferReceiver, @unchecked Sendable {
  private(set) var data = Data()
  /// Body bytes that libcurl has taken, and the total; a stream has no total before its end. `nil` without a body.
  private(set) var sent: TransferProgress?
  private let limit: Int
  private let report: @Sendable (TransferProgress, ProgressDirection) -> Void
  private var total: Int64?

  /// Most responses are small, and libcurl allocates a new buffer for each.
  var bufferSize: Int { 32 * 1024 }

  init(limit: Int, report: @escaping @Sendable (TransferProgress, ProgressDirection) -> Void = { _, _ in }) {
    self.limit = limit
    self.report = report
  }

  func receive(_ head: ResponseHead) throws(TransferError) -> HeadVerdict {
    data.removeAll()
    total = head.contentCoding == nil ? (try? head.contentLength()) ?? nil : nil
    return .takeBody
  }

  func receive(_ bytes: UnsafeRawBufferPointer) throws(TransferError) -> BodyVerdict {
    guard data.count + bytes.count <= limit else { throw .response(.bodyTooLarge(limit: limit)) }
    data.append(contentsOf: bytes)
    report(TransferProgress(completed: Int64(data.count), total: total), .download)
    return .taken
  }

  /// Whether a part of the request's body has not been sent.
  var isBodyLeft: Bool {
    guard let sent else { return false }
    return sent.total.map { sent.completed < $0 } ?? true
  }

  func didSend(_ progress: TransferProgress) {
    sent = progress
    report(progress, .upload)
  }
}
