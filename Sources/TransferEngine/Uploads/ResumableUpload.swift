import HTTPTypes

/// Resumable Uploads for HTTP (draft-ietf-httpbis-resumable-upload): a plain request that a 104 answer makes resumable.
struct ResumableUpload: UploadWay {
  /// 104 answers that one request may get; libcurl's own limit on heads comes not long after.
  private static let maximumInterims = 10_000
  private static let patience = 3
  private static let smallestAppend: Int64 = 256 << 10
  private static let firstSmallerAppend: Int64 = 64 << 20

  /// What is left to do after a request.
  private enum Outcome {
    case done
    case on(ResumableProgress, offset: Int64, limit: UploadLimit?)
  }

  func perform(_ attempt: UploadAttempt) async throws(TransferError) {
    var known: ResumableProgress? = if case .resumable(let known)? = attempt.ledger.progress { known } else { nil }
    for _ in 0..<2 {
      do throws(TransferError) {
        guard let progress = known else {
          guard case .on(let progress, let offset, let limit) = try await create(attempt) else { return }
          return try await append(attempt, progress, from: offset, limit: limit)
        }
        guard let offset = try await offset(attempt, progress) else { return }
        try await attempt.goOn(from: offset)
        return try await append(attempt, progress, from: offset, limit: nil)
      } catch .upload(.gone) {
        known = nil
        attempt.ledger.clear()
        attempt.board.resume(from: 0)
      }
    }
    throw .response(.malformed("the upload that the server made is not there"))
  }

  // MARK: The first request

  private func create(_ attempt: UploadAttempt) async throws(TransferError) -> Outcome {
    var request = attempt.request
    if request.method != .post { request.method = .put }
    let isPost = request.method == .post
    if attempt.upload.onlyIfAbsent { request.headers[.ifNoneMatch] = "*" }
    if isPost {
      if case .posting? = attempt.ledger.progress { throw .upload(.outcomeUnknown) }
      try await attempt.ledger.record(.posting, for: attempt)
    }
    var fields = ResumableFields(version: attempt.upload.interopVersion)
    var limit: UploadLimit?
    // Once whole; where that is too large, once with no more than the server takes; once in the version that it names.
    for _ in 0..<3 {
      let size = attempt.source.size
      let range = 0..<min(size, limit?.maximumAppend ?? size)  // checked: neither is below 0
      var first = request
      fields.mark(&first, isComplete: range.upperBound == size)
      first.headers.set("Upload-Length", String(size))
      let trail = ResumableTrail(attempt, base: request)
      let flight = attempt.flight(range, gate: trail.gate)
      let answer = try await sendFirst(first, flight.body, trail, isOnce: isPost)
      let refusal = answer.failure == nil && trail.progress == nil ? answer.head : nil
      if let refusal, refusal.status == 400, let told = ResumableFields.version(of: refusal), told != fields.version {
        attempt.board.land(flight.number, bytes: 0)
        fields.version = told
        continue
      }
      if let refusal, refusal.status == 413, limit == nil,
        let told = UploadLimit(refusal), let most = told.maximumAppend, most > 0, most < size
      {
        attempt.board.land(flight.number, bytes: 0)
        limit = told
        continue
      }
      return try settled(answer, trail, attempt, flight.number, range, isCreation: true)
    }
    throw .response(.malformed("it refuses an append of the size that it asked for"))
  }

  /// A POST that was broken off before its last byte left was not carried out: its note goes.
  private func sendFirst(
    _ request: TransferRequest, _ body: UploadBody, _ trail: ResumableTrail, isOnce: Bool
  ) async throws(TransferError) -> UploadAnswer {
    do throws(TransferError) {
      return try await send(request, body, trail, isOnce: isOnce)
    } catch {
      trail.forgetPost(unlessTaken: body, error)
      throw error
    }
  }

  /// Sends a body and follows the 104s. What was learnt is on record when it returns.
  private func send(
    _ request: TransferRequest, _ body: UploadBody, _ trail: ResumableTrail, isOnce: Bool = false
  ) async throws(TransferError) -> UploadAnswer {
    let result: Result<UploadAnswer, TransferError>
    do throws(TransferError) {
      result = .success(
        try await trail.wire.send(
          request, body,
          .init(
            isOnce: isOnce, interim: { trail.receive(interim: $0) }, maximumInterims: Self.maximumInterims,
            willStart: { trail.willStart($0) })))
    } catch {
      result = .failure(error)
    }
    try await trail.settle()
    return try result.get()
  }

  /// What the answer to a request with a body means.
  private func settled(
    _ answer: UploadAnswer, _ trail: ResumableTrail, _ attempt: UploadAttempt, _ flight: Int, _ range: Range<Int64>,
    isCreation: Bool = false
  ) throws(TransferError) -> Outcome {
    let isWhole = range.upperBound == attempt.source.size
    let head = answer.failure == nil ? answer.head : nil
    // The target itself has spoken: nothing is to be gone on with, whatever it said.
    if let head, ResumableFields.isComplete(head) == true {
      attempt.ledger.clear()
      _ = try answer.success()
      return .done
    }
    guard let progress = trail.progress else { return try plain(answer, attempt) }
    guard let head else {
      attempt.board.land(flight, bytes: trail.acknowledged - range.lowerBound)  // checked: both within the file
      throw answer.failure ?? .connection(.broken("no answer"))
    }
    switch head.status {
    case 200..<300 where isWhole && answer.isBodySent && ResumableFields.isComplete(head) == nil:
      return .done
    case 200..<300:
      let offset = head.count("Upload-Offset") ?? (answer.isBodySent ? range.upperBound : trail.acknowledged)
      guard range.lowerBound...range.upperBound ~= offset else {  // checked: the bounds of a range
        throw .response(.malformed("Upload-Offset is \(offset) after bytes \(range)"))
      }
      attempt.board.land(flight, bytes: offset - range.lowerBound)  // checked: offset lies within the range
      return .on(progress, offset: offset, limit: UploadLimit(head) ?? trail.limit)
    // Said of the upload's own URL; the target may mean it.
    case 404 where !isCreation, 410 where !isCreation: throw .upload(.gone)
    default: throw head.refusal
    }
  }

  /// No 104 came: it was a plain request.
  private func plain(_ answer: UploadAnswer, _ attempt: UploadAttempt) throws(TransferError) -> Outcome {
    if case .posting? = attempt.ledger.progress, answer.isOutcomeUnknown { throw .upload(.outcomeUnknown) }
    attempt.ledger.clear()
    _ = try answer.success()
    guard answer.isBodySent else { throw .upload(.answeredEarly(sent: answer.sent, total: answer.size)) }
    return .done
  }

  // MARK: The next ones

  /// - Returns: `nil` where the server has it all.
  private func offset(
    _ attempt: UploadAttempt, _ progress: ResumableProgress
  ) async throws(TransferError) -> Int64? {
    let fields = ResumableFields(version: progress.interopVersion)
    let question = fields.request(try attempt.request.moved(to: progress.url), .head)
    let head = try await attempt.wire.send(question).get()
    switch head.status {
    case 200..<300: break
    case 403, 404, 410: throw .upload(.gone)
    default: throw head.refusal
    }
    guard let offset = head.count("Upload-Offset") else {
      throw .response(.malformed("no Upload-Offset in the answer to HEAD"))
    }
    let size = attempt.source.size
    guard offset <= size, head.count("Upload-Length") ?? size == size else { throw .upload(.gone) }
    if ResumableFields.isComplete(head) == true {
      guard offset == size else { throw .upload(.gone) }
      attempt.board.resume(from: size)
      return nil
    }
    return offset
  }

  private func append(
    _ attempt: UploadAttempt, _ progress: ResumableProgress, from start: Int64, limit: UploadLimit?
  ) async throws(TransferError) {
    let fields = ResumableFields(version: progress.interopVersion)
    let base = try attempt.request.moved(to: progress.url)
    let size = attempt.source.size
    var offset = start
    var most = limit?.maximumAppend ?? .max
    var failures = 0
    while failures < Self.patience {
      let end = most < size - offset ? offset + most : size  // checked: 0 ≤ offset ≤ size
      let range = offset..<end  // checked: `most` is not below 0
      let trail = ResumableTrail(attempt, base: base, start: offset, progress: progress)
      let flight = attempt.flight(range, gate: trail.gate)
      let answer = try await send(fields.append(base, at: offset, isComplete: end == size), flight.body, trail)
      if let head = answer.head, answer.failure == nil, ResumableFields.isComplete(head) != true {
        if head.status == 409, let told = head.count("Upload-Offset"), told <= size {
          attempt.board.correct(by: told - offset)  // checked: both within the file
          if told <= offset { failures += 1 }
          offset = told
          continue
        }
        if head.status == 413 {
          most = try smaller(head, than: end - offset)  // checked: 0 ≤ offset ≤ end
          continue
        }
      }
      switch try settled(answer, trail, attempt, flight.number, range) {
      case .done: return
      case .on(_, let next, let told):
        if next <= offset { failures += 1 }
        offset = next
        most = min(most, told?.maximumAppend ?? .max)
        try await attempt.ledger.note(acknowledged: attempt.board.progress.acknowledged)
      }
    }
    throw .upload(.stuck(at: offset))
  }

  private func smaller(_ head: ResponseHead, than size: Int64) throws(TransferError) -> Int64 {
    if let told = UploadLimit(head)?.maximumAppend, told > 0, told < size { return told }
    let half = min(size, Self.firstSmallerAppend * 2) / 2
    guard half >= Self.smallestAppend else { throw head.refusal }
    return half
  }

  func abandon(
    _ progress: UploadLedger.Progress, _ request: TransferRequest, _ wire: UploadWire
  ) async throws(TransferError) {
    guard case .resumable(let known) = progress else { return }
    let fields = ResumableFields(version: known.interopVersion)
    let head = try await wire.send(fields.request(try request.moved(to: known.url), .delete)).get()
    switch head.status {
    case 200..<300, 403, 404, 405, 410, 501: return
    default: throw head.refusal
    }
  }
}
