import Glibc

/// What happens to a file that already has the name of a finished one.
enum Replacement: Hashable, Sendable {
  /// It stays, and the rename fails.
  case never
  case always
  /// It is replaced if it is still this version. Otherwise it stays, and the rename fails.
  case version(FileStamp)
  /// It stays, and the finished file gets the next free one of its `NumberedNames`.
  case nextName
}

extension PartialFile {
  /// Gives the file its final name. Nothing is lost to a race: a name that another program takes at the same moment counts as
  /// taken. Only the version of a file that is replaced is compared just before the rename.
  /// - Parameters:
  ///   - target: another directory on the same file system; `nil` for the part file's own.
  ///   - permissions: of the file; `nil`: those of the replaced file, else the user's default.
  ///   - modified: the file's modification time; `nil`: that of its last byte.
  /// - Returns: the name that the file has now.
  /// - Throws: `.destinationExists`.
  func land(
    as name: String, in target: Directory? = nil, _ replacement: Replacement, permissions: mode_t? = nil,
    modified: timespec? = nil
  ) throws(TransferError) -> String {
    func rename(to name: String, replacing: Bool) throws(TransferError) {
      try self.rename(to: name, in: target, replacing: replacing, permissions: permissions, modified: modified)
    }
    let target = target ?? directory
    switch replacement {
    case .never: try rename(to: name, replacing: false)
    case .always: try rename(to: name, replacing: true)
    case .version(let stamp):
      switch target.entry(name) {
      case nil: try rename(to: name, replacing: false)
      case .file(stamp): try rename(to: name, replacing: true)
      case .file, .other: throw .file(.destinationExists(target.path(of: name)))
      }
    case .nextName: return try landOnFreeName(name, in: target, rename)
    }
    return name
  }

  private func landOnFreeName(
    _ name: String, in target: Directory, _ rename: (String, Bool) throws(TransferError) -> Void
  ) throws(TransferError) -> String {
    for candidate in NumberedNames(name) {
      do throws(TransferError) {
        try rename(candidate, false)
        return candidate
      } catch .file(.destinationExists) {
        continue
      }
    }
    throw .file(
      .destinationExists("\(target.path(of: name)) with all numbers up to \(NumberedNames.maximumNumber)"))
  }
}
