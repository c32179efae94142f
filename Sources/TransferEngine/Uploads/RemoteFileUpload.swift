import FoundationEssentials
import WireValues

/// FTP, FTPS and SFTP: writes to a temporary name, resumes from its length if its end is the source's, then renames.
/// SCP has neither lengths nor renames: it writes to the final name and always begins with the first byte.
struct RemoteFileUpload: UploadStrategy {
  /// Bytes at the end of what the server has that are read back and compared before the rest is appended.
  private static let comparedBytes: Int64 = 64 << 10
  /// With less space on the server a write that failed has failed because of that.
  private static let leastSpace: Int64 = 1 << 20

  func perform(_ attempt: UploadAttempt) async throws(TransferError) {
    let files = RemoteFiles(session: attempt.wire.session, request: attempt.request)
    let target = attempt.request.url
    guard target.scheme != "scp" else {
      guard !attempt.upload.onlyIfAbsent else {
        throw .upload(.unsupported("SCP cannot ask whether a file is there; use sftp"))
      }
      return try await send(attempt, files, to: target, from: 0)
    }
    let name = try TemporaryName(for: target, source: attempt.source.identity)
    let temporary = try target.at(path: name.path)
    // Fail now instead of after all bytes were sent.
    if attempt.upload.onlyIfAbsent, let there = try await files.stat(target) {
      guard attempt.wasComplete(at: name), there.size == attempt.source.size, try await files.stat(temporary) == nil,
        try await endsLikeSource(attempt, files, target, attempt.source.size)
      else { throw .remote(.exists(path: target.path)) }
      // It is this upload's own file: the reply to its rename was lost.
      return attempt.tracker.resume(from: attempt.source.size)
    }
    var offset: Int64 = 0
    var isResumed = false
    if case .temporary(name.path)? = attempt.ledger.progress {
      isResumed = true
      offset = try await length(attempt, files, temporary)
    } else {
      try await attempt.ledger.record(.temporary(path: name.path), for: attempt)
    }
    try await attempt.resume(from: offset)
    try await sendAll(attempt, files, to: temporary, from: offset)
    let source = attempt.source
    try await BlockingIO.run { () throws(TransferError) in try source.check() }
    if attempt.upload.onlyIfAbsent { try await attempt.recordComplete(at: name) }
    try await files.rename(temporary, to: target, replacing: !attempt.upload.onlyIfAbsent)
    // An earlier attempt may have ended between its two renames. The target is complete: nothing fails any more.
    if isResumed, !attempt.upload.onlyIfAbsent { try? await files.removeAside(of: temporary, target: target) }
  }

  /// Bytes on the server that can be resumed. A file that is longer than the source is not its beginning.
  private func length(
    _ attempt: UploadAttempt, _ files: RemoteFiles, _ url: RequestURL
  ) async throws(TransferError) -> Int64 {
    guard let facts = try await files.stat(url), let size = facts.size, size > 0 else { return 0 }
    if size <= attempt.source.size, try await endsLikeSource(attempt, files, url, size) { return size }
    try await files.remove(url)
    return 0
  }

  /// Whether the last bytes on the server are those of the source at the same place. The length alone does not tell: a
  /// server may still write the bytes of a lost connection when the next one begins to append, and then the rest of the
  /// file is shifted. A server that does not let the file be read is trusted.
  private func endsLikeSource(
    _ attempt: UploadAttempt, _ files: RemoteFiles, _ url: RequestURL, _ size: Int64
  ) async throws(TransferError) -> Bool {
    let range = max(0, size - Self.comparedBytes)..<size  // checked: size is above 0
    let stored: Data
    do throws(TransferError) {
      stored = try await files.read(url, range)
    } catch .remote(.cannotResume) {
      return true
    } catch .remote(let failure) where !failure.isTransient {
      return true
    }
    let source = attempt.source
    return try await BlockingIO.run { () throws(TransferError) in
      var expected = Data()
      try source.forEachPiece(of: range) { expected.append(contentsOf: $0) }
      return expected == stored
    }
  }

  /// Sends from an offset; from the first byte if the server cannot continue in the middle of a file.
  private func sendAll(
    _ attempt: UploadAttempt, _ files: RemoteFiles, to url: RequestURL, from offset: Int64
  ) async throws(TransferError) {
    do throws(TransferError) {
      return try await send(attempt, files, to: url, from: offset)
    } catch .remote(.cannotResume) where offset > 0 {
      attempt.tracker.resume(from: 0)
    }
    try await files.remove(url)
    try await send(attempt, files, to: url, from: 0)
  }

  private func send(
    _ attempt: UploadAttempt, _ files: RemoteFiles, to url: RequestURL, from offset: Int64
  ) async throws(TransferError) {
    let source = attempt.source
    let tracker = attempt.tracker
    let transfer = tracker.newTransfer()
    // Uses the open file: its name may belong to another file by now.
    let body = UploadBody([.file(source, source.range)])
    do throws(TransferError) {
      let metrics: TransferMetrics? = try await attempt.wire.track { id throws(TransferError) in
        try await files.upload(.open(body), to: url, from: offset, createsDirectories: true, id: id) {
          tracker.move(transfer, to: (CheckedNumber($0) - offset).nonNegative ?? 0)
        }
      }
      if let metrics { attempt.wire.add(metrics, origin: url.origin) }
      tracker.end(transfer, bytes: source.size - offset)  // checked: 0 ≤ offset ≤ size, by `length`
    } catch {
      tracker.end(transfer, bytes: 0)
      // A source that changed makes a transfer fail in many ways; report the change.
      try await BlockingIO.run { () throws(TransferError) in try source.check() }
      throw await explained(error, files, url)
    }
  }

  /// An SFTP server whose disk is full says only that it failed, and libcurl only that SSH failed.
  private func explained(_ error: TransferError, _ files: RemoteFiles, _ url: RequestURL) async -> TransferError {
    guard case .connection(.broken) = error, !Task.isCancelled, let free = await files.freeBytes(url),
      free < Self.leastSpace
    else { return error }
    return .remote(.storageFull(host: url.host, reply: "\(free) bytes are free"))
  }

  func abandon(
    _ progress: UploadLedger.Progress, _ request: TransferRequest, _ wire: UploadClient
  ) async throws(TransferError) {
    guard case .temporary(let path) = progress, request.url.scheme != "scp" else { return }
    let files = RemoteFiles(session: wire.session, request: request)
    let temporary = try request.url.at(path: path)
    try await files.remove(temporary)
    try await files.removeAside(of: temporary, target: request.url)
  }
}
