import WireValues

extension PartialFile {
  /// Whether a piece of the file has its digest. Blocks.
  /// - Parameter total: the file's length; all bytes of the piece are on disk.
  func isGood(_ piece: Int, _ pieces: PieceDigests, total: Int64) throws(TransferError) -> Bool {
    let range = pieces.range(piece, total: total)
    var digester = Digester([pieces.algorithm])
    let buffer = UnsafeMutableRawBufferPointer.allocate(
      byteCount: Int(min(1 << 20, pieces.length)), alignment: 4096)
    defer { buffer.deallocate() }
    var offset = range.lowerBound
    while offset < range.upperBound {
      // checked: offset < upperBound
      let count = Int(min(Int64(buffer.count), range.upperBound - offset))
      let bytes = UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
      try read(into: bytes, at: offset)
      digester.update(UnsafeRawBufferPointer(bytes))
      offset += Int64(count)  // checked: at most the upper bound
    }
    return digester.finalize()[pieces.algorithm] == pieces.hex(piece)
  }
}
