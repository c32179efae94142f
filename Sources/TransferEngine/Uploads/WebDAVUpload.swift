import HTTPTypes
import WireValues

/// WebDAV (RFC 4918): PUT to a temporary name, then MOVE, so that an incomplete file never has the target's name.
struct WebDAVUpload: UploadStrategy {
  private static let makeCollection = HTTPRequest.Method("MKCOL")!
  private static let move = HTTPRequest.Method("MOVE")!
  /// The most collections that are created on a path; a deeper path is a mistake.
  private static let maximumDepth = 64

  func perform(_ attempt: UploadAttempt) async throws(TransferError) {
    let name = try TemporaryName(for: attempt.request.url, source: attempt.source.identity)
    var temporary = attempt.request
    temporary.url = try attempt.request.url.at(path: name.path)
    if case .temporary(name.path)? = attempt.ledger.progress {
      if try await isMoved(attempt, name, temporary) { return attempt.tracker.resume(from: attempt.source.size) }
      try await resume(attempt, temporary)
    } else {
      try await attempt.ledger.record(.temporary(path: name.path), for: attempt)
      try await put(attempt, temporary)
    }
    let source = attempt.source
    try await BlockingIO.run { () throws(TransferError) in try source.check() }
    if attempt.upload.onlyIfAbsent { try await attempt.recordComplete(at: name) }
    try await move(attempt, temporary)
  }

  /// Whether an earlier attempt has moved its file and lost the response. Another MOVE would find this upload's own file
  /// in its way. Without `onlyIfAbsent` the file is sent again.
  private func isMoved(
    _ attempt: UploadAttempt, _ name: TemporaryName, _ temporary: TransferRequest
  ) async throws(TransferError) -> Bool {
    guard attempt.upload.onlyIfAbsent, attempt.wasComplete(at: name),
      try await attempt.wire.length(of: attempt.request) == attempt.source.size
    else { return false }
    return try await attempt.wire.length(of: temporary) == nil
  }

  /// All bytes may be on the server already, if the process was killed between the last byte and the rename.
  private func resume(_ attempt: UploadAttempt, _ temporary: TransferRequest) async throws(TransferError) {
    let size = attempt.source.size
    if size > 0, try await attempt.wire.length(of: temporary) == size {
      attempt.tracker.resume(from: size)
    } else {
      // The server may still be writing bytes of the lost request, behind those that it has now. In the same file they
      // would give it its full length before the bytes of this request have filled it.
      try? await remove(temporary, attempt.wire)
      try await put(attempt, temporary)
    }
  }

  private func put(_ attempt: UploadAttempt, _ temporary: TransferRequest) async throws(TransferError) {
    var request = temporary
    request.method = .put
    for mayRepeat in [true, false] {
      let body = attempt.body(of: attempt.source.range).body
      let response = try await attempt.wire.send(request, body)
      let head = try response.get()
      // A PUT without its collection gets 409 (RFC 4918 §9.7.1); some servers respond 404, and nginx 500.
      if [404, 409, 500].contains(head.status), mayRepeat {
        let wasMissing = try await makeCollections(above: temporary, attempt.wire)
        // Another upload to the same place may have created it in the meantime.
        if wasMissing || head.status != 500 { continue }
      }
      _ = try response.success()
      try response.checkSent()
      attempt.tracker.acknowledge(attempt.source.size)
      if attempt.upload.verifiesLength { try await attempt.compareLength(at: temporary) }
      return
    }
  }

  /// Tries from the deepest collection upwards until one exists, then creates those below it.
  /// - Returns: whether one was missing.
  private func makeCollections(above request: TransferRequest, _ wire: UploadClient) async throws(TransferError) -> Bool
  {
    var missing: [String] = []
    var path = String(request.url.path.beforeBaseName)
    while path.count > 1, missing.count < Self.maximumDepth {
      let found = try await makeCollection(path, request, wire)
      if found == .made, missing.isEmpty { return true }
      if found != .orphaned { break }
      missing.append(path)
      path = String(path.withoutTrailingSlash.beforeBaseName)
    }
    for path in missing.reversed() where try await makeCollection(path, request, wire) == .orphaned {
      throw .upload(.unsupported("the collection \(path) cannot be made"))
    }
    return !missing.isEmpty
  }

  private enum Collection {
    case made, there
    /// The parent is missing.
    case orphaned
  }

  private func makeCollection(
    _ path: String, _ request: TransferRequest, _ wire: UploadClient
  ) async throws(TransferError) -> Collection {
    var request = request
    request.url = try request.url.at(path: path)
    request.method = Self.makeCollection
    request.headers[.contentType] = nil
    let head = try await wire.send(request).get()
    switch head.status {
    case 200..<300: return .made
    // 405 means that the collection exists (RFC 4918 §9.3.1).
    case 405: return .there
    case 404, 409: return .orphaned
    default: throw head.refusal
    }
  }

  private func move(_ attempt: UploadAttempt, _ temporary: TransferRequest) async throws(TransferError) {
    var request = temporary
    request.method = Self.move
    request.headers[.contentType] = nil
    request.headers.set("Destination", attempt.request.url.string)
    request.headers.set("Overwrite", attempt.upload.onlyIfAbsent ? "F" : "T")
    let head = try await attempt.wire.send(request).get()
    switch head.status {
    // 207: a part of the file's properties or content was not moved.
    case 207: throw .response(.malformed("the file was not moved to its name"))
    case 200..<300: return
    case 404:
      // The temporary file is missing: the ledger is outdated.
      attempt.ledger.clear()
      throw .upload(.gone)
    case 405, 501:
      try await remove(temporary, attempt.wire)
      attempt.ledger.clear()
      throw .upload(.unsupported("it does not rename files (MOVE); send them with the plain protocol"))
    case 412:
      try await remove(temporary, attempt.wire)
      attempt.ledger.clear()
      throw head.refusal
    default: throw head.refusal
    }
  }

  private func remove(_ temporary: TransferRequest, _ wire: UploadClient) async throws(TransferError) {
    var request = temporary
    request.method = .delete
    request.headers[.contentType] = nil
    let head = try await wire.send(request).get()
    switch head.status {
    case 200..<300, 404, 405, 410, 501: return
    default: throw head.refusal
    }
  }

  func abandon(
    _ progress: UploadLedger.Progress, _ request: TransferRequest, _ wire: UploadClient
  ) async throws(TransferError) {
    guard case .temporary(let path) = progress else { return }
    var temporary = request
    temporary.url = try request.url.at(path: path)
    try await remove(temporary, wire)
  }
}
