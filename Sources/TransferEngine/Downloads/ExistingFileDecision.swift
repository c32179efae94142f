import Glibc

/// What a download does about the entry that has its name. Pure.
enum ExistingFileDecision: Equatable, Sendable {
  /// The file is fetched.
  case fetch(Replacement)
  /// The file is fetched unless the server still has this version, which is at the destination.
  case ask(FileRecord, Replacement)
  /// The file is fetched unless size and time in the response are those of the destination, of which nothing else is known.
  case compare(FileStamp, Replacement)
  /// The file is fetched unless the destination has the expected digest.
  case verify(FileStamp)
  case skip
  case fail

  /// - Parameters:
  ///   - records: the versions that may be at the destination; `nil`: whether the file has changed does not matter.
  ///   - entry: what has the name; `nil`: it is free.
  init(_ rule: ExistingFileRule, _ records: [FileRecord]?, _ entry: Directory.Entry?) {
    let free = Self.standardReplacement(rule)
    guard let entry else {
      self = .fetch(free)
      return
    }
    if let records {
      self = Self.checkingChanges(isReplacing: rule == .replace, records, entry)
      return
    }
    switch (rule, entry) {
    case (.fail, _): self = .fail
    case (.skip, _): self = .skip
    case (.verify, .file(let stamp)): self = .verify(stamp)
    case (.verify, .other), (.rename, _), (.replace, _): self = .fetch(free)
    }
  }

  private static func checkingChanges(isReplacing: Bool, _ records: [FileRecord], _ entry: Directory.Entry) -> Self {
    guard case .file(let stamp) = entry else { return isReplacing ? .fetch(.always) : .fail }
    if let record = records.first(where: { $0.stamp == stamp }) {
      return .ask(record, isReplacing ? .always : .version(stamp))
    }
    return .compare(stamp, isReplacing ? .always : .never)
  }

  /// How a file gets its name if nothing is known about the entry with that name.
  static func standardReplacement(_ rule: ExistingFileRule) -> Replacement {
    switch rule {
    case .fail, .skip: .never
    case .verify, .replace: .always
    case .rename: .nextName
    }
  }

  /// How the fetched file gets its name.
  var replacement: Replacement {
    switch self {
    case .fetch(let replacement), .ask(_, let replacement), .compare(_, let replacement): replacement
    case .verify: .always
    case .skip, .fail: .never
    }
  }

  /// The version for which the request can be conditional.
  var condition: Validators? {
    guard case .ask(let record, _) = self, record.validators.canAskForChange else { return nil }
    return record.validators
  }
}

extension FileStamp {
  /// Whether a response describes a file with this size and time. HTTP has whole seconds (RFC 9110 §8.8.2).
  func matches(_ theirs: Validators, total: Int64?) -> Bool {
    guard total == size else { return false }
    if let time = theirs.modificationTime { return FileStamp.second(time) == modifiedSecond }
    guard let time = theirs.modified else { return false }
    return Int64(time.tv_sec) == modifiedSecond
  }
}
