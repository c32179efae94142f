public import FoundationEssentials
import WireValues

/// What is needed to resume an upload, also in another process: the version of the source, the target, and what
/// identifies the upload on the server. Opaque to its users (`encoded()`). Contains no credentials; but an upload URL
/// may be a secret, so do not log these bytes.
public struct UploadLedger: Sendable, Equatable, Codable {
  /// The version of the encoding. A ledger of a newer version is refused.
  public var version = 1
  /// The version of the source when its first byte was sent.
  public var source: SourceIdentity
  /// The target's origin and path: the same file to another target is another upload.
  public var target: String
  /// Bytes of the source that the server had acknowledged when this was made.
  public var acknowledged: Int64 = 0
  var progress: Progress

  /// What identifies the upload, for each protocol.
  enum Progress: Sendable, Equatable, Codable {
    /// A request that must not be repeated is being sent.
    case posting
    case tus(TusProgress)
    case resumable(ResumableProgress)
    case s3(S3Progress)
    /// The path of the temporary name at the target's origin.
    case temporary(path: String)

    /// Whether the numbers are possible for a file of this size: no sum of them exceeds it.
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

  /// The protocol's name, for people.
  public var protocolName: String {
    switch progress {
    case .posting: "plain"
    case .tus: "tus"
    case .resumable: "resumable"
    case .s3: "s3"
    case .temporary: "temporary name"
    }
  }

  /// Whether a later upload continues from the bytes that the server has.
  public var isResumable: Bool {
    switch progress {
    case .tus, .resumable, .s3: true
    case .posting, .temporary: false
    }
  }

  /// Why this upload cannot go on with another version of its source. A POST that the server may have carried out is not
  /// followed by another one, whatever has become of the file since: perhaps only its time is another.
  func errorOfChangedSource(_ upload: FileUpload) -> TransferError {
    if case .posting = progress, target == upload.request.url.ledgerTarget { return .upload(.outcomeUnknown) }
    return .source(.changed(upload.source))
  }

  /// The ledger to store: JSON without secrets, stable across versions.
  public func encoded() -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Strings, numbers and Bool only: encoding cannot fail.
    return (try? encoder.encode(self)) ?? Data()
  }

  /// `nil` for data that this version cannot read, and for impossible numbers. The upload then starts over.
  public init?(_ data: Data) {
    guard let value = try? JSONDecoder().decode(UploadLedger.self, from: data), value.version == 1,
      value.acknowledged >= 0, value.acknowledged <= value.source.size,
      value.progress.isPossible(for: value.source.size)
    else { return nil }
    self = value
  }
}
