public import FoundationEssentials
import WireValues

/// What is needed to resume a download, also in another process: which file it was, how to recognise it, and how much
/// of it is durable. Opaque to its users (`encoded()`). Contains no credentials.
public struct ResumeData: Sendable, Equatable, Codable {
  /// The version of the encoding. Data of a newer version is refused. 2: there are segments, whose gaps a release that knows
  /// only version 1 would take for bytes of the file.
  public private(set) var version = 1
  /// Shown to people. Without userinfo and query, which may contain secrets.
  public var url: String
  /// The values that show whether the server's file has changed.
  public var validators: Validators
  /// The file's length in bytes; `nil` if the server did not announce it.
  public var totalBytes: Int64?
  /// Digests that the server declared.
  public var declaredDigests: [ExpectedDigest]
  /// Where the part file is.
  public var partialFile: Location
  /// Bytes that were synced to disk (`fdatasync`) when this was made. After a reboot only these count.
  public var checkpointBytes: Int64
  /// The boot in which this was made. Within it the page cache survives a crash of the process, so the file's own
  /// length counts; bytes after `checkpointBytes` are compared with the server's first.
  public var bootID: String
  /// Consecutive restarts that the server's refusal to resume caused.
  public var refusals = 0
  /// All bytes are present and verified; only the rename is missing.
  public var isVerified = false
  /// True if the attempt had ended when this was made: nothing was written since, so bytes after `checkpointBytes` are
  /// not ours. `nil` while an attempt may write; recovery resets it for an attempt that was cut off.
  public var isAtRest: Bool?
  /// The encoded `FileRecord` of the whole file; only for a download with `knownVersions`.
  public var record: Data?
  /// The server has said, or shown by a response, that it serves parts of the file. `nil`: unknown.
  public var servesRanges: Bool?
  /// The destination's options, for a resumed download that names none.
  public var options: DownloadOptions?

  /// Where the file gets its name, if its part file is in another directory.
  public var landing: Landing?

  /// A directory that is not the part file's.
  public struct Landing: Sendable, Equatable, Codable {
    /// An absolute path.
    public var directory: String
    /// The copy beside the destination, if the part file is on another file system and was copied.
    public var copy: FileIdentity?
  }

  /// The file that is about to be renamed to the destination: the part file, or its copy.
  public var fileToRename: FileIdentity { landing?.copy ?? partialFile.identity }

  /// The path of the complete file.
  public var finalPath: String { (landing?.directory ?? partialFile.directory).appendingName(partialFile.finalName) }

  /// The bytes on disk, if they are not simply the file's first ones.
  var segments: SegmentRecord? { didSet { version = Self.version(segments) } }

  private static func version(_ segments: SegmentRecord?) -> Int { segments == nil ? 1 : 2 }

  /// Where the part file is, and which file it is: another file with the same name is not ours.
  public struct Location: Sendable, Equatable, Codable {
    /// An absolute path.
    public var directory: String
    /// The part file's name in it.
    public var name: String
    /// Identifies the file; a file that replaced it is not resumed.
    public var identity: FileIdentity
    /// The file's name when it is complete.
    public var finalName: String
  }

  /// Resume data made by hand. Sizes are bytes.
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

  /// All bytes are verified and synced; the rename follows.
  mutating func complete(_ size: Int64) {
    totalBytes = size
    checkpointBytes = size
    segments = nil
    isVerified = true
  }

  /// How many bytes of a file of this size can be resumed; `nil` for none. If the attempt was cut off in this boot, the
  /// file's own length counts, up to the total; otherwise only synced bytes count.
  func usableBytes(ofFileWith size: Int64) -> Int64? {
    let good = wasCutOff ? min(size, totalBytes ?? .max) : min(size, checkpointBytes)
    guard good > 0, totalBytes.map({ good <= $0 }) ?? true else { return nil }
    return good
  }

  /// Whether a file of this size must be compared with the server's before anything is appended: the attempt that wrote
  /// it was cut off, so no record proves that the bytes after the last checkpoint came from it.
  func mustCompare(fileWith size: Int64) -> Bool { wasCutOff && size != checkpointBytes }

  /// An attempt of this boot ended without recording its end.
  private var wasCutOff: Bool { bootID == BootID.current && isAtRest != true }

  /// Which bytes of a part file that was filled in segments count. If the attempt was cut off in this boot, those that its
  /// map names, too. `nil` if there are none, or if the file was not filled in segments. Blocks.
  func usableRanges(ofFileWith size: Int64, in directory: Directory) -> ByteRanges? {
    guard let segments, let totalBytes, (1...SegmentPlan.maximumTotal).contains(totalBytes),
      segments.synced.upperBound <= totalBytes
    else { return nil }
    var ranges = segments.synced
    if wasCutOff, let map = segments.map,
      let written = PieceMap.read(
        in: directory, partialName: partialFile.name, PieceMap.Subject(part: partialFile.identity, total: totalBytes),
        expecting: map)
    {
      ranges.formUnion(written)
    }
    ranges = ranges.clamped(to: size)
    return ranges.isEmpty ? nil : ranges
  }

  /// The size of the finished file if it is verified, has its final name and its size is unchanged; else `nil`. Blocks.
  func sizeOfNamedFile(in directory: Directory) -> Int64? {
    guard isVerified, directory.path == landing?.directory ?? partialFile.directory,
      let size = directory.size(of: partialFile.finalName, expecting: fileToRename), size == totalBytes
    else { return nil }
    return size
  }

  /// The data to store: JSON without secrets, stable across versions.
  public func encoded() -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Strings, numbers and Bool only: encoding cannot fail.
    return (try? encoder.encode(self)) ?? Data()
  }

  /// `nil` for data that this version cannot read, and for impossible numbers and names. The download then starts over.
  public init?(_ data: Data) {
    guard let value = try? JSONDecoder().decode(ResumeData.self, from: data),
      value.version == Self.version(value.segments),
      value.checkpointBytes >= 0, value.totalBytes ?? 0 >= 0, (0...1_000_000).contains(value.refusals),
      [value.partialFile.name, value.partialFile.finalName].allSatisfy(Self.isName)
    else { return nil }
    self = value
  }

  private static func isName(_ text: String) -> Bool {
    !text.isEmpty && text != "." && text != ".." && !text.utf8.contains { $0 == UInt8(ascii: "/") || $0 == 0 }
  }
}
