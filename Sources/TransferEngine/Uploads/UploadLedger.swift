public import FoundationEssentials

/// What is needed to go on with an upload in another process: of which version of the source, to where, and by which names
/// the server knows it. Opaque bytes to everybody else (`encoded()`). Holds no credentials; an upload URL may be a secret
/// of its own, so these bytes belong in no log.
public struct UploadLedger: Sendable, Equatable, Codable {
  /// Of the encoding. A ledger of a newer version is refused, not guessed at.
  public var version = 1
  /// The source as it was when its first byte was sent.
  public var source: SourceIdentity
  /// The target's origin and path: an upload of the same file to elsewhere is another upload.
  public var target: String
  /// Bytes of the source that the server said it has, when this was made.
  public var acknowledged: Int64 = 0
  var progress: Progress

  /// What each protocol has to know.
  enum Progress: Sendable, Equatable, Codable {
    /// A request that must not be made twice is on its way.
    case posting
    case tus(TusProgress)
    case resumable(ResumableProgress)
    case s3(S3Progress)
    /// The path of the temporary name at the target's origin.
    case temporary(path: String)

    /// Whether the numbers can be those of a file of this size: no sum of them exceeds it.
    fileprivate func isPossible(for size: Int64) -> Bool {
      switch self {
      case .posting, .resumable, .temporary: true
      case .tus(let tus): tus.isPossible(for: size)
      case .s3(let s3): (1...S3Progress.largestPart).contains(s3.partSize)
      }
    }
  }

  init(source: SourceIdentity, target: String, progress: Progress) {
    self.source = source
    self.target = target
    self.progress = progress
  }

  /// A word for people: how the server knows the upload.
  public var protocolName: String {
    switch progress {
    case .posting: "plain"
    case .tus: "tus"
    case .resumable: "resumable"
    case .s3: "s3"
    case .temporary: "temporary name"
    }
  }

  /// The ledger to keep: JSON without secrets, stable across versions.
  public func encoded() -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Strings, numbers and Bool only: nothing here can fail to be encoded.
    return (try? encoder.encode(self)) ?? Data()
  }

  /// `nil` for bytes this version cannot read, and for numbers that no upload has: the upload then starts over.
  public init?(_ data: Data) {
    guard let value = try? JSONDecoder().decode(UploadLedger.self, from: data), value.version == 1,
      value.acknowledged >= 0, value.acknowledged <= value.source.size,
      value.progress.isPossible(for: value.source.size)
    else { return nil }
    self = value
  }
}

/// What tus knows an upload by.
struct TusProgress: Sendable, Equatable, Codable {
  /// One, or one for each partial upload.
  var parts: [Part]
  /// The upload that the partial ones were put together to.
  var final: String?

  struct Part: Sendable, Equatable, Codable {
    /// Absolute.
    var url: String
    /// Of the source.
    var start: Int64
    var end: Int64
    /// `Upload-Expires`, in seconds since 1970.
    var expires: Int64?

    /// Bytes from `start` to `end`.
    var length: Int64 { end - start }  // checked: 0 ≤ start ≤ end, by `isPossible(for:)` and where parts are made
  }

  /// Whether the parts follow one another from the file's first byte, and none ends behind its last.
  fileprivate func isPossible(for size: Int64) -> Bool {
    var end: Int64 = 0
    for part in parts {
      guard part.start == end, part.start <= part.end, part.end <= size else { return false }
      end = part.end
    }
    return true
  }
}

/// What an IETF resumable upload is known by.
struct ResumableProgress: Sendable, Equatable, Codable {
  /// Absolute.
  var url: String
  /// The interop version whose field names the server used.
  var interopVersion: Int
}

/// What a multipart upload to S3 is known by.
struct S3Progress: Sendable, Equatable, Codable {
  /// More than S3 or any of its relatives takes (AWS: 5 GiB), and little enough to be added to a file's size.
  static let largestPart: Int64 = 1 << 50

  var uploadID: String
  /// Where it was begun: `https://host/bucket/key`.
  var object: String
  var partSize: Int64
  /// The ETag that the whole object will have; there once its parts were asked to be put together.
  var completing: String?
}

/// Keeps an upload's ledger durable while it runs. Called from Swift's threads, one call at a time for one upload.
public protocol UploadJournal: Sendable {
  /// When it returns the ledger is durable. Called before anything is done that only the ledger knows of (an upload URL, an
  /// `UploadId`, a temporary name), and from time to time when the server acknowledged more. A plain PUT needs none.
  /// - Parameter acknowledged: bytes of the source that the server said it has.
  /// - Parameter ledger: what to keep; it replaces what was kept before.
  func record(_ ledger: UploadLedger, acknowledged: Int64) async throws
}
