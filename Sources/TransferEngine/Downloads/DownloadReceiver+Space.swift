import WireValues

/// The space that a file needs.
extension DownloadReceiver {
  /// Checks the file systems of the part file and of the destination, before the file's bytes arrive.
  /// - Parameters:
  ///   - onDisk: bytes that the part file's file system has already.
  ///   - home: the destination's directory. On another file system the whole file needs its space there, too.
  func checkSpace(
    for total: Int64?, onDisk: Int64, in directory: Directory, copiedTo home: Directory?
  ) throws(TransferError) {
    guard let total else { return }
    let missing = try (CheckedNumber(total) - onDisk).orThrow(TransferError.response(.malformed("the length \(total)")))
    let least = plan.destination.minimumFree
    if missing > Self.unrecordedLimit || least > 0 { try directory.checkSpace(for: missing, leaving: least) }
    guard let home, total > Self.unrecordedLimit || least > 0, !directory.canRename(to: home) else { return }
    try home.checkSpace(for: total, leaving: least)
  }
}
