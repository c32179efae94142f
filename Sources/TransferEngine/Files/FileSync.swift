import WireValues

/// Syncs the bytes of finished part files to disk: one `syncfs(2)` for a large group, `fdatasync(2)` for each file
/// otherwise.
enum FileSync {
  /// Returns when the bytes are synced, with one result for each file. After an error a file's data counts as lost. Blocks.
  /// - Parameter parts: files, in the order in which they were opened, and their sizes in bytes.
  static func synchronize(_ parts: [(part: PartialFile, size: Int64)]) -> [Result<Void, TransferError>] {
    guard parts.count >= SyncMethod.minimumFiles else { return parts.map { each($0.part) } }
    var results = [Result<Void, TransferError>](repeating: .success(()), count: parts.count)
    for (_, indices) in Dictionary(grouping: parts.indices, by: { parts[$0].part.identity.device }) {
      let synced = synchronize(onOneFileSystem: indices.map { parts[$0] })
      for (index, result) in zip(indices, synced) { results[index] = result }
    }
    return results
  }

  private static func each(_ part: PartialFile) -> Result<Void, TransferError> {
    Result { () throws(TransferError) in try part.synchronize() }
  }

  private static func synchronize(
    onOneFileSystem files: [(part: PartialFile, size: Int64)]
  ) -> [Result<Void, TransferError>] {
    guard let first = files.first?.part else { return [] }
    let method = SyncMethod(
      files: files.count, bytes: files.reduce(0) { $0.saturatingSum($1.size) },
      isSupported: FileSystemSync.isSupported(in: first.directory), unwritten: UnwrittenMemory.bytes)
    guard method == .fileSystem else { return files.map { each($0.part) } }
    switch FileSystemSync.perform(openedFirst: first) {
    case .synced:
      return files.map { file in Result { () throws(TransferError) in try file.part.checkData() } }
    // The kernel does not report which file it was (syncfs(2)).
    case .failed(let code): return files.map { .failure($0.part.loseData(code)) }
    case .late: return files.map { each($0.part) }
    }
  }
}
