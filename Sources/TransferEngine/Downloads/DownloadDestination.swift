import FoundationEssentials
import WireValues

/// Where a download goes.
public struct DownloadDestination: Sendable, Equatable {
  /// An absolute path.
  public var directory: String
  /// One path component.
  public var name: String
  /// Use the name from Content-Disposition; `name` is used if the response has none.
  public var isNamedByResponse: Bool
  /// Permissions, modification time and the largest size.
  public var attributes = FileAttributes()
  /// What happens if the file exists. With `DownloadOptions.removePreviousFile` it is replaced in any case.
  public var existing = ExistingFileRule.fail
  /// An existing directory for the part file, which may be on another file system; `nil`: beside the destination. From another
  /// file system the complete file is copied under a hidden name beside the destination, synced and then renamed.
  public var partDirectory: String?
  /// Bytes that must stay free on the file systems of the destination and of the part file. Otherwise the download fails with
  /// `.diskFull`.
  public var minimumFree: Int64 = 0
  /// With a value, a file that exists is fetched only if the server has another version; these are the versions that may be
  /// at the destination. It is replaced only if it is still one of them. The size and the time of any other file are compared
  /// with the response: if one differs, the download fails, or replaces it if `existing` says so. Only for a name that is
  /// known before the response.
  public var knownVersions: [FileRecord]?

  /// A name in a directory. With `isNamedByResponse`, the name that the response suggests replaces `name`.
  public init(directory: String, name: String, isNamedByResponse: Bool = false) {
    self.directory = directory
    self.name = name
    self.isNamedByResponse = isNamedByResponse
  }

  /// - Throws: `.invalidName` unless the path is absolute and ends in a usable name.
  public init(path: String) throws(TransferError) {
    guard path.isAbsolutePath else { throw .file(.invalidName(path, reason: "the path is not absolute")) }
    let name = String(path.baseName)
    try SafeFileName.check(name)
    self.init(directory: path.parentPath, name: name)
  }
}
