import Glibc
import Synchronization
import WireValues

/// Ends a copy that is no longer needed.
final class CopyStop: Sendable {
  private let isStopped = Atomic(false)

  func stop() { isStopped.store(true, ordering: .relaxed) }

  func check() throws(TransferError) { if isStopped.load(ordering: .relaxed) { throw .cancelled } }
}

extension PartialFile {
  /// Copies the file into another directory under its own, hidden name, and syncs the copy to disk. What an interrupted copy
  /// has left there is removed first, so that its space is free. The copy has the file's modification time. Blocks.
  /// - Parameter least: bytes that have to stay free there.
  /// - Throws: `.diskFull`, `.io`, `.permission`; `.cancelled` if it was stopped. Then there is no copy.
  func copy(to target: Directory, leaving least: Int64, _ stop: CopyStop) throws(TransferError) -> PartialFile {
    let size = size
    target.removeAll(ofPart: name)
    try target.checkSpace(for: size, leaving: least)
    let copy = try PartialFile.create(in: target, name: name)
    do throws(TransferError) {
      try copyBytes(size, to: copy, stop)
      if let time = modified { copy.setModified(time) }
      copy.syncTime()
      try copy.synchronize()
    } catch {
      target.remove(name)
      throw error
    }
    return copy
  }

  private func copyBytes(_ size: Int64, to copy: PartialFile, _ stop: CopyStop) throws(TransferError) {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
    defer { buffer.deallocate() }
    var offset: Int64 = 0
    while offset < size {
      try stop.check()
      // checked: offset < size
      let piece = UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(min(Int64(buffer.count), size - offset))])
      try read(into: piece, at: offset)
      try copy.write(UnsafeRawBufferPointer(piece), at: offset)
      offset += Int64(piece.count)  // checked: at most size
    }
  }
}
