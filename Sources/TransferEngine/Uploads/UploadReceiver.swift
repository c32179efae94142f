import FoundationEssentials

/// Collects a response's body.
///
/// `@unchecked Sendable`: used on the transfer loop's thread while the transfer runs and read afterwards; the loop's
/// continuation separates the two.
final class UploadReceiver: TransferReceiver, @unchecked Sendable {
  /// Bytes of a response's body that are kept; no more are read.
  static let limit = 4 << 20

  private(set) var data = Data()
  /// Bytes of the request's body that libcurl had taken when the last piece of the response arrived.
  private(set) var takenBefore: Int64?
  private let interim: (@Sendable (ResponseHead) -> Void)?
  private let meter: UploadMeter?

  init(interim: (@Sendable (ResponseHead) -> Void)?, meter: UploadMeter?) {
    self.interim = interim
    self.meter = meter
  }

  func receive(interim head: ResponseHead) { interim?(head) }

  func receive(_ head: ResponseHead) throws(TransferError) -> HeadVerdict {
    data.removeAll()
    takenBefore = meter?.taken
    return .takeBody
  }

  func receive(_ bytes: UnsafeRawBufferPointer) throws(TransferError) -> BodyVerdict {
    guard data.count + bytes.count <= Self.limit else {
      return .stop
    }
    data.append(contentsOf: bytes)
    takenBefore = meter?.taken
    return .taken
  }
}
