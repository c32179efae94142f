/// What a server of files says of a file, where HTTP has a response's head: the one place where such facts are made a
/// type of their own, so that no HTTP status has to be pretended.
public struct RemoteFileFacts: Sendable, Hashable {
  /// Bytes; `nil` where the server does not say (an FTP server without `SIZE`, RFC 3659 §4).
  public var size: Int64?
  /// Nanoseconds since 1970; `nil` where it is not known. FTP (`MDTM`) and SFTP tell whole seconds, SCP nothing.
  public var modificationTime: Int64?
  /// Whether the protocol can begin in the middle of a file; SCP cannot.
  public var isResumable: Bool

  /// Facts as a server told them.
  public init(size: Int64?, modificationTime: Int64? = nil, isResumable: Bool = true) {
    self.size = size
    self.modificationTime = modificationTime
    self.isResumable = isResumable
  }
}

extension Validators {
  /// A file's time is a weak sign: two versions may be written within its resolution, and times can be set.
  init(of facts: RemoteFileFacts) {
    self.init()
    modificationTime = facts.modificationTime
  }
}

extension ResumeDecision {
  /// What a file's size and time mean for the bytes on the disk. Size and time are weak signs: where they agree, the overlap
  /// that is fetched again decides.
  init(facts: RemoteFileFacts, question: RangeQuestion, stored: ResumeData?) {
    guard question.isRanged else {
      self = .startOver(total: facts.size)
      return
    }
    if let before = stored?.totalBytes, let now = facts.size, before != now {
      self = .nextRung(reason: "the file's length changed (\(before) → \(now))")
    } else if let now = facts.size, now < question.bytesOnDisk {
      self = .nextRung(reason: "the file is shorter (\(now) bytes) than what is on the disk")
    } else if let before = stored?.validators.modificationTime, let now = facts.modificationTime, before != now {
      self = .nextRung(reason: "the file changed on the server (another modification time)")
    } else {
      self = .append(overlap: question.overlap, total: facts.size ?? stored?.totalBytes)
    }
  }
}

extension RangeQuestion {
  /// How to ask for the rest of a file by a protocol without validators: the end of what is on the disk again, to compare.
  /// The whole file where nothing can be gone on from, or the protocol cannot.
  static func rest(of stored: ResumeData?, bytesOnDisk: Int64, scheme: String) -> RangeQuestion {
    guard let stored, bytesOnDisk > 0, stored.refusals < ResumeLadder.maximumRefusals, scheme != "scp" else {
      return .whole
    }
    return RangeQuestion(overlapping: bytesOnDisk)
  }
}
