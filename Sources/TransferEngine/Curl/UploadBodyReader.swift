import CCurl
import FoundationEssentials
import Glibc
import WireValues

/// Reads an upload's body for libcurl. Compares the source after its last byte was read and before that byte is sent,
/// so that a file that changed never arrives complete.
final class UploadBodyReader: BodyReading {
  private let body: UploadBody
  private(set) var position: Int64 = 0

  init(_ body: UploadBody) { self.body = body }

  var size: Int64 { body.size }

  func close() {}

  func seek(to offset: Int64) -> Bool {
    guard (0...size).contains(offset) else { return false }  // checked: a sum of sizes
    position = offset
    body.meter.move(to: offset)
    return true
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(TransferError) -> Int {
    if let gate = body.gate, gate.holds(at: position) { return Int(TRANSFER_READFUNC_PAUSE) }
    var start: Int64 = 0
    for piece in body.pieces {
      let end = start.saturatingSum(piece.size)
      if position < end {
        let count = try take(piece, from: position - start, into: buffer)  // checked: start ≤ position < end
        position += Int64(count)  // checked: at most end
        body.meter.move(to: position)
        return count
      }
      start = end
    }
    return 0
  }

  private func take(
    _ piece: UploadBody.Piece, from offset: Int64, into buffer: UnsafeMutableRawBufferPointer
  ) throws(TransferError) -> Int {
    let wanted = Int(min(Int64(buffer.count), piece.size - offset))  // checked: 0 ≤ offset < size
    let target = UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted])
    switch piece {
    case .bytes(let data):
      // checked: wanted is at most the rest of the piece
      data.withUnsafeBytes { target.copyMemory(from: .init(rebasing: $0[Int(offset)..<Int(offset) + wanted])) }
      return wanted
    case .file(let source, let range):
      let count = try source.read(into: target, at: range.lowerBound + offset)  // checked: within the range
      if offset + Int64(count) == piece.size { try source.checkDescriptor() }  // checked: within the piece
      return count
    }
  }
}
