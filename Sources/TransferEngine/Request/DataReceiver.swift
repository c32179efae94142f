import FoundationEssentials

/// Collects a body in memory, up to a limit.
///
/// `@unchecked Sendable`: touched on the transfer loop's thread while the transfer runs and read after it; the loop's
/// continuation stands between the two.
final class DataReceiver: TransferReceiver, @unchecked Sendable {
  private(set) var data = Data()
  private let limit: Int

  init(limit: Int) { self.limit = limit }

  func receive(_ head: ResponseHead) throws(TransferError) -> HeadVerdict {
    data.removeAll()
    return .takeBody
  }

  func receive(_ bytes: UnsafeRawBufferPointer) throws(TransferError) -> BodyVerdict {
    guard data.count + bytes.count <= limit else { throw .response(.bodyTooLarge(limit: limit)) }
    data.append(contentsOf: bytes)
    return .taken
  }
}
