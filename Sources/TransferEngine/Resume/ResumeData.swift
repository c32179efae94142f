public import FoundationEssentials
import HTTPTypes

/// What is needed to go on with a download in another process: which file it was, by which signs it is known, and how
/// much of it is certainly on the disk. Opaque bytes to everybody else (`encoded()`). Holds no credentials.
public struct ResumeData: Sendable, Equatable, Codable {
  /// Of the encoding. Data of a newer version is refused, not guessed at.
  public var version = 1
  /// For people. Without userinfo and query, which may hold secrets.
  public var url: String
  /// By which the server can tell whether its file is still the same.
  public var validators: Validators
  /// `nil` where the server did not say.
  public var totalBytes: Int64?
  /// Digests that the server declared.
  public var declaredDigests: [ExpectedDigest]
  /// Where the bytes are.
  public var partialFile: Location
  /// Bytes that were on the disk (`fdatasync`) when this was made. After another boot only these count.
  public var checkpointBytes: Int64
  /// The boot in which this was made. Within it the page cache survived, so the file's own length counts; what lies beyond
  /// `checkpointBytes` is compared with the server's bytes first.
  public var bootID: String
  /// Restarts in a row for which the server's refusal to resume was the reason.
  public var refusals = 0
  /// All bytes are there and verified; what is left is the rename.
  public var isVerified = false
  /// Made when an attempt had ended: nothing has been written since, so what goes beyond `checkpointBytes` is not ours, in this
  /// boot neither. `nil` while an attempt may write; whoever finds that one was cut off sets it back.
  public var isAtRest: Bool?
  /// What may be done on the way to the destination, where somebody goes on without naming one.
  public var options: DownloadOptions?

  /// Where the part file is, and which file it is: another one under its name is not ours.
  public struct Location: Sendable, Equatable, Codable {
    /// An absolute path.
    public var directory: String
    /// The part file's name in it.
    public var name: String
    /// Which file it was; a file that was put in its place is not gone on with.
    public var identity: FileIdentity
    /// The name it gets in the end.
    public var finalName: String
  }

  /// What a download leaves, made by hand. Sizes are bytes.
  public init(
    url: String, validators: Validators, totalBytes: Int64?, declaredDigests: [ExpectedDigest] = [],
    partialFile: Location, checkpointBytes: Int64, bootID: String
  ) {
    self.url = url
    self.validators = validators
    self.totalBytes = totalBytes
    self.declaredDigests = declaredDigests
    self.partialFile = partialFile
    self.checkpointBytes = checkpointBytes
    self.bootID = bootID
  }

  /// Within one boot the page cache survived whatever ended the process, so the file's own length counts, up to the whole
  /// file's; after another boot, and of a file at rest, only synchronized bytes count. `nil`: nothing can be resumed.
  func usableBytes(ofFileWith size: Int64) -> Int64? {
    let good = wasCutOff ? min(size, totalBytes ?? .max) : min(size, checkpointBytes)
    guard good > 0, totalBytes.map({ good <= $0 }) ?? true else { return nil }
    return good
  }

  /// Whether bytes of a file of this size must be compared with the server's before anything is appended: the attempt that
  /// wrote them was cut off, so no record says whether all that lies beyond the last checkpoint came from it.
  func mustCompare(fileWith size: Int64) -> Bool { wasCutOff && size != checkpointBytes }

  /// An attempt of this boot ended without a record of its end.
  private var wasCutOff: Bool { bootID == BootID.current && isAtRest != true }

  /// The size of the file where it was verified and stands under its final name, unchanged in size; else `nil`. Blocks.
  func sizeOfNamedFile(in directory: Directory) -> Int64? {
    guard isVerified, directory.path == partialFile.directory,
      let size = directory.size(of: partialFile.finalName, expecting: partialFile.identity), size == totalBytes
    else { return nil }
    return size
  }

  /// The data to keep: JSON without secrets, stable across versions.
  public func encoded() -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Strings, numbers and Bool only: nothing here can fail to be encoded.
    return (try? encoder.encode(self)) ?? Data()
  }

  /// `nil` for bytes this version cannot read, and for numbers and names that no download has: it then starts over.
  public init?(_ data: Data) {
    guard let value = try? JSONDecoder().decode(ResumeData.self, from: data), value.version == 1,
      value.checkpointBytes >= 0, value.totalBytes ?? 0 >= 0, (0...1_000_000).contains(value.refusals),
      [value.partialFile.name, value.partialFile.finalName].allSatisfy(Self.isName)
    else { return nil }
    self = value
  }

  private static func isName(_ text: String) -> Bool {
    !text.isEmpty && text != "." && text != ".." && !text.utf8.contains { $0 == UInt8(ascii: "/") || $0 == 0 }
  }
}

/// The signs by which one version of a file is told from another (RFC 9110 §8.8).
public struct Validators: Sendable, Equatable, Codable {
  /// As sent, quotes and `W/` included.
  public var etag: String?
  /// `Last-Modified`, as it came (RFC 9110 §8.8.2).
  public var lastModified: String?
  /// The response's own `Date`; a `Last-Modified` at least one second older is strong (§8.8.2.2).
  public var date: String?
  /// Nanoseconds since 1970, of a file that did not come by HTTP: what MDTM, SFTP's stat or the disk say.
  public var modificationTime: Int64?

  /// What a head said, field by field, as it came.
  public init(etag: String? = nil, lastModified: String? = nil, date: String? = nil) {
    self.etag = etag
    self.lastModified = lastModified
    self.date = date
  }

  /// Values longer than this are none: they are kept in the job's row and sent back with every question.
  private static let maximumBytes = 4096

  init(of head: ResponseHead) {
    func value(_ name: HTTPField.Name) -> String? {
      head.headers[name].flatMap { $0.utf8.count <= Self.maximumBytes ? $0 : nil }
    }
    self.init(etag: value(.eTag), lastModified: value(.lastModified), date: value(.date))
  }

  /// The ETag, if `If-Range` may carry it: never a weak one (§13.1.5).
  public var strongETag: String? {
    guard let etag, etag.hasPrefix("\""), etag.hasSuffix("\""), etag.utf8.count >= 2 else { return nil }
    return etag
  }

  /// The date, if `If-Range` may carry it: only without any ETag, and only if it is strong.
  public var strongDate: String? { etag == nil ? strongLastModified : nil }

  private var strongLastModified: String? {
    guard let lastModified, let date, let changed = HTTPDate.parse(lastModified), let sent = HTTPDate.parse(date),
      sent.timeIntervalSince(changed) >= 1
    else { return nil }
    return lastModified
  }

  /// Whether the other answer is certainly about another version: some sign both have differs. The ETag speaks
  /// first; where both answers carry one, dates are not asked.
  func contradict(_ other: Validators) -> Bool {
    if let etag, let theirs = other.etag { return etag != theirs }
    if let lastModified, let theirs = other.lastModified { return lastModified != theirs }
    return false
  }

  /// Whether both carry the same strong sign.
  func agreeStrongly(with other: Validators) -> Bool {
    if let etag, let theirs = other.etag { return strongETag != nil && etag == theirs }
    if let date = strongLastModified, let theirs = other.lastModified { return date == theirs }
    return false
  }
}
