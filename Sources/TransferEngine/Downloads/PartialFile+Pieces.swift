extension PartialFile {
  /// Whether a piece of the file has its digest. Blocks.
  /// - Parameter total: the file's length; all bytes of the piece are on disk.
  func isGood(_ piece: Int, _ pieces: PieceDigests, total: Int64) throws(TransferError) -> Bool {
    try digests([pieces.algorithm], of: pieces.range(piece, total: total))[pieces.algorithm] == pieces.hex(piece)
  }
}
