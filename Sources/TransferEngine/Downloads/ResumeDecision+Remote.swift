extension Validators {
  /// A file's time is a weak validator: two versions may have the same time, and times can be set.
  init(of facts: RemoteFileFacts) {
    self.init()
    modificationTime = facts.modificationTime
  }
}

extension ResumeDecision {
  /// Decides by a file's size and time. Both are weak validators: if they are equal, the bytes that are fetched again
  /// decide.
  init(facts: RemoteFileFacts, question: RangeQuestion, stored: ResumeData?) {
    guard question.isRanged else {
      self = .startOver(total: facts.size)
      return
    }
    if let before = stored?.totalBytes, let now = facts.size, before != now {
      self = .nextStrategy(reason: "the file's length changed (\(before) → \(now))")
    } else if let now = facts.size, now < question.bytesOnDisk {
      self = .nextStrategy(reason: "the file is shorter (\(now) bytes) than what is on the disk")
    } else if let before = stored?.validators.modificationTime, let now = facts.modificationTime, before != now {
      self = .nextStrategy(reason: "the file changed on the server (another modification time)")
    } else {
      self = .append(overlap: question.overlap, total: facts.size ?? stored?.totalBytes)
    }
  }
}

extension RangeQuestion {
  /// How to request the rest of a file by a protocol without validators: with the last bytes on disk, to compare them.
  /// The whole file if nothing can be resumed, or the protocol cannot resume.
  static func rest(of stored: ResumeData?, bytesOnDisk: Int64, scheme: String) -> RangeQuestion {
    guard let stored, bytesOnDisk > 0, stored.refusals < RangeStrategies.maximumRefusals, scheme != "scp" else {
      return .whole
    }
    return RangeQuestion(overlapping: bytesOnDisk)
  }
}
