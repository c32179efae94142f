public import FoundationEssentials
import HTTPTypes

/// A version of a server's file that is at the destination: how the server names it, and how to recognise it on the disk.
public struct FileRecord: Equatable, Sendable {
  /// Of the response that brought the file, or that proved it unchanged.
  public var validators: Validators
  /// Of the file at the destination.
  public var stamp: FileStamp

  /// A record of these values.
  public init(validators: Validators, stamp: FileStamp) {
    self.validators = validators
    self.stamp = stamp
  }

  private static let version = "1"

  /// The data to store: lines of text, because a list of many files reads one for each. Fields of a response have no line
  /// breaks (RFC 9110 §5.5).
  public func encoded() -> Data {
    let texts = [validators.etag, validators.lastModified, validators.date]
      .map { text in text.flatMap { $0.utf8.contains(UInt8(ascii: "\n")) ? nil : $0 } ?? "" }
    let time = validators.modificationTime.map(String.init) ?? ""
    let lines = [Self.version, "\(stamp.size)", "\(stamp.modified)", "\(stamp.inode)", time] + texts
    return Data(lines.joined(separator: "\n").utf8)
  }

  /// `nil` for data that this version cannot read: the file then counts as one without a record.
  public init?(_ data: Data) {
    let lines = String(decoding: data, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    guard lines.count == 8, lines[0] == Self.version, let size = Int64(lines[1]), let modified = Int64(lines[2]),
      let inode = UInt64(lines[3])
    else { return nil }
    let texts = lines[5...].map { $0.isEmpty ? nil : String($0) }
    var validators = Validators(etag: texts[0], lastModified: texts[1], date: texts[2])
    validators.modificationTime = Int64(lines[4])
    self.init(validators: validators, stamp: FileStamp(size: size, modified: modified, inode: inode))
  }
}

extension Validators {
  /// Whether a request can ask if this version is still the server's. A weak ETag can (RFC 9110 §13.1.2). A date can only if
  /// it is strong: otherwise the file may have changed again within the same second (§8.8.2.2).
  var canAskForChange: Bool { etag != nil || strongDate != nil }

  /// Asks for the file unless it is this version.
  func applyCondition(to headers: inout HTTPFields) {
    if let etag { headers[.ifNoneMatch] = etag }
    // A server that knows If-None-Match ignores the date (§13.1.3).
    if let date = etag == nil ? strongDate : lastModified { headers[.ifModifiedSince] = date }
  }

  /// The values after the server has said by a 304 that the version is the same. Such a response need not repeat them
  /// (RFC 9110 §15.4.5). A date that was strong stays as it is, so that the record does not change each time.
  func confirmed(by head: ResponseHead) -> Validators {
    let theirs = Validators(of: head)
    var result = self
    if let etag = theirs.etag { result.etag = etag }
    if let lastModified = theirs.lastModified, lastModified != self.lastModified {
      (result.lastModified, result.date) = (lastModified, theirs.date)
    }
    return result
  }
}
