import HTTPTypes
import WireValues

/// Resumable Uploads for HTTP (draft-ietf-httpbis-resumable-upload): a plain request that a 104 response makes
/// resumable.
struct ResumableUpload: UploadStrategy {
  /// The most 104 responses to one request; libcurl's own limit on heads is not much higher.
  private static let maximumInterims = 10_000
  private static let patience = 3
  private static let smallestAppend: Int64 = 256 << 10
  private static let firstSmallerAppend: Int64 = 64 << 20

  /// What follows a request.
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
        try await attempt.resume(from: offset)
        return try await append(attempt, progress, from: offset, limit: nil)
      } catch .upload(.gone) {
        known = nil
        attempt.ledger.clear()
        attempt.tracker.resume(from: 0)
      }
    }
    throw .response(.malformed("the server does not have the upload that it has just created"))
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
    // Up to three requests: all at once; if that is too large, as much as the server accepts; and once more in the
    // version that the server names.
    for number in 0..<3 {
      let size = attempt.source.size
      let range = 0..<min(size, limit?.maximumAppend ?? size)  // checked: neither is below 0
      var first = request
      fields.mark(&first, isComplete: range.upperBound == size)
      first.headers.set("Upload-Length", String(size))
      let interims = InterimResponses(attempt, base: request)
      let transfer = attempt.body(of: range, gate: interims.gate)
      // A server that has refused a request before it read its body may not read the next one of that connection.
      let response = try await sendFirst(first, transfer.body, interims, onNewConnection: isPost || number > 0)
      let refusal = response.failure == nil && interims.progress == nil ? response.head : nil
      if let refusal, refusal.status == 400, let told = ResumableFields.version(of: refusal), told != fields.version {
        attempt.tracker.end(transfer.number, bytes: 0)
        fields.version = told
        continue
      }
      if let refusal, refusal.status == 413, limit == nil,
        let told = UploadLimit(refusal), let most = told.maximumAppend, most > 0, most < size
      {
        attempt.tracker.end(transfer.number, bytes: 0)
        limit = told
        continue
      }
      return try settled(response, interims, attempt, transfer.number, range, isCreation: true)
    }
    throw .response(.malformed("it refuses an append of the size that it asked for"))
  }

  /// A POST that was interrupted before its last byte was sent was not carried out: remove its record.
  private func sendFirst(
    _ request: TransferRequest, _ body: UploadBody, _ interims: InterimResponses, onNewConnection: Bool
  ) async throws(TransferError) -> UploadResponse {
    do throws(TransferError) {
      return try await send(request, body, interims, isOnce: onNewConnection)
    } catch {
      interims.forgetPost(unlessTaken: body, error)
      throw error
    }
  }

  /// Sends a body and handles its 104 responses. When this returns, their content is recorded.
  private func send(
    _ request: TransferRequest, _ body: UploadBody, _ interims: InterimResponses, isOnce: Bool = false
  ) async throws(TransferError) -> UploadResponse {
    let result: Result<UploadResponse, TransferError>
    do throws(TransferError) {
      result = .success(
        try await interims.wire.send(
          request, body,
          .init(
            isOnce: isOnce, interim: { interims.receive(interim: $0) }, maximumInterims: Self.maximumInterims,
            willStart: { interims.willStart($0) })))
    } catch {
      result = .failure(error)
    }
    try await interims.settle()
    return try result.get()
  }

  /// Interprets the response to a request with a body.
  private func settled(
    _ response: UploadResponse, _ interims: InterimResponses, _ attempt: UploadAttempt, _ transfer: Int,
    _ range: Range<Int64>,
    isCreation: Bool = false
  ) throws(TransferError) -> Outcome {
    let size = attempt.source.size
    let isWhole = range.upperBound == size
    let head = response.failure == nil ? response.head : nil
    // The target itself responded: there is nothing to resume, whatever the response is.
    if let head, ResumableFields.isComplete(head) == true {
      attempt.ledger.clear()
      _ = try response.success()
      guard isWhole, response.isBodySent else {
        throw attempt.request.method == .post ? .upload(.outcomeUnknown) : early(response, range, attempt)
      }
      return .done
    }
    guard let progress = interims.progress else { return try plain(response, attempt) }
    guard let head else {
      attempt.tracker.end(transfer, bytes: interims.acknowledged - range.lowerBound)  // checked: both within the file
      throw response.failure ?? .connection(.broken("no response"))
    }
    let told = head.count("Upload-Offset")
    let isStored = isWhole && response.isBodySent && ResumableFields.isComplete(head) == nil && told ?? size == size
    switch head.status {
    case 200..<300 where isStored: return .done
    case 200..<300:
      let offset = told ?? (response.isBodySent ? range.upperBound : interims.acknowledged)
      guard range.lowerBound...range.upperBound ~= offset else {  // checked: the bounds of a range
        throw .response(.malformed("Upload-Offset is \(offset) after bytes \(range)"))
      }
      // checked: offset lies within the range
      guard offset - range.lowerBound <= response.sent else { throw early(response, range, attempt) }
      attempt.tracker.end(transfer, bytes: offset - range.lowerBound)  // checked: offset lies within the range
      return .on(progress, offset: offset, limit: UploadLimit(head) ?? interims.limit)
    // If this is the response of the upload's own URL; the target's response may mean the target.
    case 404 where !isCreation, 410 where !isCreation: throw .upload(.gone)
    default: throw head.refusal
    }
  }

  /// The error for a server that claims more bytes than were sent before it responded.
  private func early(_ response: UploadResponse, _ range: Range<Int64>, _ attempt: UploadAttempt) -> TransferError {
    .upload(.answeredEarly(sent: range.lowerBound.saturatingSum(response.sent), total: attempt.source.size))
  }

  /// No 104 arrived: it was a plain request.
  private func plain(_ response: UploadResponse, _ attempt: UploadAttempt) throws(TransferError) -> Outcome {
    if case .posting? = attempt.ledger.progress, response.isOutcomeUnknown { throw .upload(.outcomeUnknown) }
    attempt.ledger.clear()
    _ = try response.success()
    try response.checkSent()
    return .done
  }

  // MARK: The next ones

  /// - Returns: `nil` if the server has everything.
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
      throw .response(.malformed("the response to HEAD has no Upload-Offset"))
    }
    let size = attempt.source.size
    guard offset <= size, head.count("Upload-Length") ?? size == size else { throw .upload(.gone) }
    if ResumableFields.isComplete(head) == true {
      guard offset == size else { throw .upload(.gone) }
      attempt.tracker.resume(from: size)
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
      let interims = InterimResponses(attempt, base: base, start: offset, progress: progress)
      let transfer = attempt.body(of: range, gate: interims.gate)
      let response = try await send(fields.append(base, at: offset, isComplete: end == size), transfer.body, interims)
      if let head = response.head, response.failure == nil, ResumableFields.isComplete(head) != true {
        if head.status == 409, let told = head.count("Upload-Offset"), told <= size {
          attempt.tracker.correct(by: told - offset)  // checked: both within the file
          if told <= offset { failures += 1 }
          offset = told
          continue
        }
        if head.status == 413 {
          most = try smaller(head, than: end - offset)  // checked: 0 ≤ offset ≤ end
          continue
        }
      }
      switch try settled(response, interims, attempt, transfer.number, range) {
      case .done: return
      case .on(_, let next, let told):
        if next <= offset { failures += 1 }
        offset = next
        most = min(most, told?.maximumAppend ?? .max)
        try await attempt.ledger.note(acknowledged: attempt.tracker.progress.acknowledged)
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
    _ progress: UploadLedger.Progress, _ request: TransferRequest, _ wire: UploadClient
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
