import FoundationEssentials
import Glibc
import WireValues

/// What a downloaded file gets besides its bytes, and how large it may be.
public struct FileAttributes: Hashable, Sendable {
  /// Permission bits, at most 0777; `nil`: those of the file that is replaced, else 0666 less the umask.
  public var permissions: UInt16?
  /// The file's modification time is that of the file on the server, if the server says it (`Last-Modified`, MDTM, SFTP).
  public var usesRemoteTime = false
  /// A larger file is an error, before it is written if the server announces its length; `nil`: no limit.
  public var maximumBytes: Int64?
  /// Asked before the file grows; `nil`: only the file system limits it.
  public var allowance: SpaceAllowance?
  /// Extended attributes by name (xattr(7)), set before the file gets its name. A file system that cannot keep them is no reason
  /// to lose the file.
  public var extended: [String: String] = [:]

  /// The usual permissions, the time of the download, any size.
  public init() {}

  /// - Throws: `.file(.tooLarge)` for a size above the limit, `.file(.diskFull)` for one that is not allowed now.
  func check(size: Int64) throws(TransferError) {
    if let maximumBytes, size > maximumBytes { throw .file(.tooLarge(limit: maximumBytes)) }
    if let refusal = allowance?.refusal(size) { throw .file(.diskFull(refusal)) }
  }
}

extension Validators {
  /// When the file was changed on the server, as far as it says so: to the second over HTTP (RFC 9110 §8.8.2).
  var modified: timespec? {
    if let modificationTime {
      let parts = modificationTime.quotientAndRemainder(dividingBy: 1_000_000_000)
      let (whole, rest) = (Int(parts.quotient), Int(parts.remainder))
      guard rest < 0 else { return timespec(tv_sec: whole, tv_nsec: rest) }
      // The kernel's seconds are rounded down, so that the nanoseconds are never negative.
      return timespec(tv_sec: whole - 1, tv_nsec: rest + 1_000_000_000)  // checked: a quotient of an Int64
    }
    guard let time = lastModified.flatMap(HTTPDate.parse) else { return nil }
    return CheckedNumber(rounding: time.timeIntervalSince1970).value.map { timespec(tv_sec: Int($0), tv_nsec: 0) }
  }
}

extension PartialFile {
  /// As `land(as:in:_:permissions:modified:)`.
  func land(
    as name: String, in target: Directory?, _ replacement: Replacement, _ attributes: FileAttributes,
    _ validators: Validators
  ) throws(TransferError) -> String {
    setExtended(attributes.extended)
    return try land(
      as: name, in: target, replacement, permissions: attributes.permissions.map { mode_t($0) },
      modified: attributes.usesRemoteTime ? validators.modified : nil)
  }

  /// What will be known of the file when it has its name. The time is set now, so that it is synced together with the bytes.
  func record(_ attributes: FileAttributes, _ validators: Validators) -> FileRecord? {
    if attributes.usesRemoteTime, let modified = validators.modified { setModified(modified) }
    syncTime()
    return stamp.map { FileRecord(validators: validators, stamp: $0) }
  }
}
