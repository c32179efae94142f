import FoundationEssentials
import HTTPTypes
import WireValues

/// tus 1.0.0: the server keeps the bytes that it received, and reports their number
/// (tus.io/protocols/resumable-upload).
struct TusUpload: UploadStrategy {
  let options: TusOptions
  /// Where uploads are created; `nil`: the request's own URL.
  var endpoint: RequestURL?

  /// Smaller files are not sent in parallel.
  static let parallelSize: Int64 = 64 << 20

  func perform(_ attempt: UploadAttempt) async throws(TransferError) {
    var creation = attempt.request
    if let endpoint { creation.url = endpoint }
    let key = "tus " + creation.url.string
    var progress: TusProgress? = if case .tus(let known)? = attempt.ledger.progress { known } else { nil }
    // A recorded upload may be gone; then one new upload is created.
    for _ in 0..<2 {
      do throws(TransferError) {
        if let known = progress, try await resume(known, attempt) { return }
        let server = try await attempt.wire.server(at: creation, remembering: key).tus
        let sender = TusSender(
          attempt: attempt, server: server, chunkSize: options.chunkSize, cacheKey: key)
        try await start(progress, creation, server, sender, attempt)
        return
      } catch .upload(.gone) {
        progress = nil
        attempt.ledger.clear()
        attempt.tracker.resume(from: 0)
      }
    }
    throw .response(.malformed("the server does not have the upload that it has just created"))
  }

  /// Asks how much the server has; true if that is everything.
  private func resume(_ progress: TusProgress, _ attempt: UploadAttempt) async throws(TransferError) -> Bool {
    guard let final = progress.final else { return false }
    // The parts are combined already: only the record of the end is missing.
    let part = TusProgress.Part(url: final, start: 0, end: attempt.source.size, expires: nil)
    let offset = try await TusSender(attempt: attempt, server: nil, chunkSize: nil, cacheKey: "").offset(of: part)
    guard offset == attempt.source.size else { return false }
    await removeParts(progress.parts, of: part, attempt)
    return true
  }

  private func start(
    _ progress: TusProgress?, _ creation: TransferRequest, _ server: TusServer?, _ sender: TusSender,
    _ attempt: UploadAttempt
  ) async throws(TransferError) {
    if let limit = server?.maximumSize, attempt.source.size > limit {
      throw .upload(.unsupported("it takes at most \(limit) bytes"))
    }
    var parts = progress?.parts ?? []
    var offsets: [Int64] = []
    for part in parts { offsets.append(try await sender.offset(of: part)) }
    // No offset is beyond its part, and the parts do not overlap.
    try await attempt.resume(from: try offsets.checkedSum.orThrow(TransferError.upload(.gone)))
    let isParallel = parts.isEmpty ? mustSplit(attempt.source.size, server) : parts[0].end < attempt.source.size
    if parts.isEmpty, !isParallel {
      guard let part = try await create(whole: creation, attempt) else { return }
      parts = [part]
      offsets = [0]
    }
    guard isParallel else {
      try await sender.send(parts[0], from: offsets[0], notes: true)
      return
    }
    for range in ranges(after: parts.last?.end ?? 0, of: attempt.source.size) {
      parts.append(try await create(part: range, creation, attempt))
      offsets.append(0)
      try await attempt.ledger.record(
        .tus(TusProgress(parts: parts)), acknowledged: attempt.tracker.progress.acknowledged, for: attempt)
    }
    try await sender.sendAll(Array(zip(parts, offsets)))
    try await concatenate(parts, creation, attempt)
  }

  private func mustSplit(_ size: Int64, _ server: TusServer?) -> Bool {
    options.parallelParts > 1 && size >= Self.parallelSize && server?.extensions.contains("concatenation") == true
  }

  private func ranges(after start: Int64, of size: Int64) -> [Range<Int64>] {
    let count = Int64(max(2, options.parallelParts))
    let length = max(1, size / count + (size % count == 0 ? 0 : 1))  // checked: at most size
    return stride(from: start, to: size, by: Int64.Stride(length)).map { start in
      start..<(size - start < length ? size : start + length)  // checked: start < size
    }
  }

  // MARK: Creation

  /// No bytes are sent with the request (the creation-with-upload extension): whether its response arrives or not, an
  /// upload that was not recorded must not become a second file.
  /// - Returns: `nil` for an empty file, whose upload is complete.
  private func create(
    whole creation: TransferRequest, _ attempt: UploadAttempt
  ) async throws(TransferError) -> TusProgress.Part? {
    let size = attempt.source.size
    var request = TusFields.request(creation, .post)
    request.headers.set("Upload-Length", String(size))
    request.headers.set("Upload-Metadata", TusFields.metadata(options, source: attempt.source))
    let part = try self.part(try await send(creating: request, attempt), attempt.source.range, creation)
    if size == 0 { return nil }
    try await attempt.ledger.record(.tus(TusProgress(parts: [part])), for: attempt)
    return part
  }

  private func create(
    part range: Range<Int64>, _ creation: TransferRequest, _ attempt: UploadAttempt
  ) async throws(TransferError) -> TusProgress.Part {
    var request = TusFields.request(creation, .post)
    request.headers.set("Upload-Length", String(range.count))
    request.headers.set("Upload-Concat", "partial")
    let head = try await send(creating: request, attempt)
    return try part(head, range, creation)
  }

  private func concatenate(
    _ parts: [TusProgress.Part], _ creation: TransferRequest, _ attempt: UploadAttempt
  ) async throws(TransferError) {
    var request = TusFields.request(creation, .post)
    request.headers.set("Upload-Concat", "final;" + parts.map(\.url).joined(separator: " "))
    request.headers.set("Upload-Metadata", TusFields.metadata(options, source: attempt.source))
    let head = try await send(creating: request, attempt)
    let final = try part(head, attempt.source.range, creation)
    try await attempt.ledger.record(
      .tus(TusProgress(parts: parts, final: final.url)), acknowledged: attempt.source.size, for: attempt)
    await removeParts(parts, of: final, attempt)
  }

  /// Deletes the partial uploads when the final one has their bytes. Asks for that first, because a server may combine
  /// them later. Uploads that cannot be deleted expire. The upload itself has succeeded.
  private func removeParts(
    _ parts: [TusProgress.Part], of final: TusProgress.Part, _ attempt: UploadAttempt
  ) async {
    let sender = TusSender(attempt: attempt, server: nil, chunkSize: nil, cacheKey: "")
    guard (try? await sender.offset(of: final)) == attempt.source.size else { return }
    for part in parts {
      guard let request = try? attempt.request.moved(to: part.url) else { continue }
      let response = try? await attempt.wire.send(TusFields.request(request, .delete))
      // The other requests would get the same response.
      guard let response, response.failure == nil, response.head?.status != 405, response.head?.status != 501 else {
        return
      }
    }
  }

  /// Waits for the response even if the attempt is cancelled: otherwise an upload would exist that is not recorded.
  private func send(
    creating request: TransferRequest, _ attempt: UploadAttempt
  ) async throws(TransferError) -> ResponseHead {
    let wire = attempt.wire
    return try await withCancellationGracePeriod { () throws(TransferError) in
      try await wire.send(request, UploadBody(Data())).created()
    }
  }

  private func part(
    _ head: ResponseHead, _ range: Range<Int64>, _ creation: TransferRequest
  ) throws(TransferError) -> TusProgress.Part {
    guard let location = head.headers[.location], !location.isEmpty else {
      throw .response(.malformed("the response to the creation of an upload has no Location"))
    }
    // A relative URL begins at the one that responded (RFC 9110 §10.2.2), to which a redirect may have led.
    let place = head.url.map { creation.moved(to: $0) } ?? creation
    return TusProgress.Part(
      url: try place.moved(to: location).url.string, start: range.lowerBound, end: range.upperBound,
      expires: TusSender.expiry(head))
  }

  // MARK: Removal

  /// Sends DELETE (the termination extension). A server without it lets its uploads expire.
  func abandon(
    _ progress: UploadLedger.Progress, _ request: TransferRequest, _ wire: UploadClient
  ) async throws(TransferError) {
    guard case .tus(let known) = progress else { return }
    for url in known.parts.map(\.url) + [known.final].compactMap({ $0 }) {
      let head = try await wire.send(TusFields.request(try request.moved(to: url), .delete)).get()
      switch head.status {
      case 200..<300, 403, 404, 405, 410, 501: continue
      default: throw head.refusal
      }
    }
  }
}

extension UploadResponse {
  /// The head of a response to a creation.
  fileprivate func created() throws(TransferError) -> ResponseHead {
    let head = try get()
    switch head.status {
    case 200..<300: return head
    case 412:
      let versions = head.field("Tus-Version") ?? "another version"
      throw .upload(.unsupported("it supports tus \(versions), not \(TusServer.version)"))
    default: throw head.refusal
    }
  }
}
