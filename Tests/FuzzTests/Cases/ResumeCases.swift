import FoundationEssentials
import HTTPTypes

@testable import TransferEngine

extension FuzzCase {
  static let resume = [resumeDecision, segmentDecision, remoteFacts]

  /// Line 1: the first requested byte, the bytes on disk, the originally announced length (`-`: none). Line 2: the stored
  /// ETag. Line 3: the stored date. The rest is the response's head.
  private static let resumeDecision = FuzzCase("resume-decision") { bytes in
    var input = Input(bytes)
    let numbers = input.numbers()
    guard numbers.count >= 2, let start = numbers[0], let onDisk = numbers[1], 0 <= start, start <= onDisk else {
      return
    }
    let storedTotal = numbers.count > 2 ? numbers[2] : nil
    // `ResumeData.usableBytes` guarantees this.
    if let storedTotal, storedTotal < onDisk { return }
    let stored = Validators(etag: input.optionalLine(), lastModified: input.optionalLine())
    guard let head = input.head() else { return }
    var question = RangeQuestion(start: onDisk > 0 ? start : 0, bytesOnDisk: onDisk, condition: stored.strongETag)
    // Nothing was resumed: the request may be conditional.
    if onDisk == 0, stored.canAskForChange { question.unless = stored }
    let decision = ResumeDecision(
      head: head, question: question, stored: onDisk > 0 ? stored : nil, storedTotal: storedTotal, retryAfter: nil)
    switch decision {
    case .append(let overlap, let total):
      try require(head.status == 206 && question.isRanged, "bytes are appended after a \(head.status)")
      guard let field = head.headers[.contentRange], case .part(let first, let last, let theirs)? = ContentRange(field)
      else { throw BrokenProperty(description: "bytes would be appended without a Content-Range") }
      try require(first == question.start, "bytes from \(first) are appended at \(question.start)")
      try require(overlap == onDisk - question.start, "an overlap of \(overlap)")
      try require(last >= onDisk - 1, "a part that ends before the bytes on the disk")
      try require(head.contentCoding == nil, "a part of an encoded body is appended")
      if let total { try require(total > last, "\(last) of \(total) bytes") }
      if let total, let storedTotal { try require(total == storedTotal, "another length, \(total)") }
      if let theirs { try require(total == theirs, "a length that is not the server's") }
      if let ours = stored.etag, let theirs = head.headers[.eTag] { try require(ours == theirs, "another version") }
    case .alreadyComplete:
      try require(head.status == 416 && question.isRanged, "a \(head.status) completes the file")
      try require(
        storedTotal == nil || storedTotal == onDisk, "\(onDisk) of \(storedTotal ?? 0) bytes are taken for all")
    case .unchanged:
      try require(
        head.status == 304 && question.unless != nil && onDisk == 0, "a \(head.status) says that nothing changed")
    case .startOver(let total):
      try require((200...299).contains(head.status) && head.status != 206, "a \(head.status) starts the file over")
      if let total { try require(total >= 0, "a length of \(total)") }
    case .nextStrategy: try require(question.isRanged, "another strategy without a range")
    case .fail(let error): try require(!"\(error)".isEmpty, "a failure without words")
    }
  }

  /// Line 1: the first requested byte and the file's length. Line 2: the stored ETag. The rest is the response's head.
  private static let segmentDecision = FuzzCase("segment-decision") { bytes in
    var input = Input(bytes)
    let numbers = input.numbers()
    guard numbers.count >= 2, let start = numbers[0], let total = numbers[1], 0 <= start, start < total,
      total <= SegmentPlan.maximumTotal
    else { return }
    let stored = Validators(etag: input.optionalLine())
    guard let head = input.head() else { return }
    switch SegmentDecision(head: head, start: start, total: total, validators: stored, retryAfter: nil) {
    case .take(let end):
      try require(head.status == 206 && head.contentCoding == nil, "a \(head.status) brings a segment")
      try require(start < end && end <= total, "a segment that ends at \(end)")
      guard let field = head.headers[.contentRange], case .part(start, let last, let theirs)? = ContentRange(field)
      else { throw BrokenProperty(description: "a segment without its Content-Range") }
      try require(last == end - 1 && theirs ?? total == total, "another part than the Content-Range says")
      if let ours = stored.etag, let theirs = head.headers[.eTag] { try require(ours == theirs, "another version") }
    case .refuse(let reason): try require(!reason.isEmpty, "a refusal without words")
    case .wait(let status, _): try require(status >= 400, "a wait after a \(status)")
    }
  }

  /// Line 1: as above. Line 2: the server's size and time, or `-`.
  private static let remoteFacts = FuzzCase("remote-facts", maximumLength: 200) { bytes in
    var input = Input(bytes)
    let numbers = input.numbers()
    guard numbers.count >= 2, let start = numbers[0], let onDisk = numbers[1], 0 <= start, start <= onDisk else {
      return
    }
    let storedTotal = numbers.count > 2 ? numbers[2] : nil
    if let storedTotal, storedTotal < onDisk { return }
    let said = input.numbers()
    let facts = RemoteFileFacts(
      size: said.first ?? nil, modificationTime: said.count > 1 ? said[1] : nil, isResumable: true)
    var data = ResumeData(
      url: "ftp://host.example/a", validators: Validators(), totalBytes: storedTotal,
      partialFile: .init(
        directory: "/", name: ".a.part", identity: FileIdentity(device: 1, inode: 1), finalName: "a"),
      checkpointBytes: onDisk, bootID: "boot")
    data.validators.modificationTime = 5
    let question = RangeQuestion(start: onDisk > 0 ? start : 0, bytesOnDisk: onDisk)
    switch ResumeDecision(facts: facts, question: question, stored: data) {
    case .append(let overlap, let total):
      try require(question.isRanged && overlap == onDisk - question.start, "an overlap of \(overlap)")
      if let total { try require(total >= onDisk, "\(onDisk) bytes of \(total)") }
    case .startOver(let total): if let total { try require(total == facts.size, "a length of \(total)") }
    case .alreadyComplete, .unchanged:
      throw BrokenProperty(description: "size and time alone complete the file")
    case .nextStrategy, .fail: break
    }
  }
}
