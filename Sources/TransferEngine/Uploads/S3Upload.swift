import FoundationEssentials
import HTTPTypes
import Threads
import WireValues

/// Amazon S3 and compatible servers: one PutObject for small files, parts for others
/// (docs.aws.amazon.com/AmazonS3/latest/API/API_CreateMultipartUpload.html).
struct S3Upload: UploadStrategy {
  let options: S3Options
  var environment = AWSEnvironment.current

  /// Files from this size on are sent in parts.
  static let multipartSize: Int64 = 16 << 20

  func perform(_ attempt: UploadAttempt) async throws(TransferError) {
    let client = try await S3Client(attempt.request, options, environment, attempt.wire)
    guard attempt.source.size >= Self.multipartSize else { return try await put(attempt, client) }
    let object = try client.object().url.string
    var progress: S3Progress? = if case .s3(let known)? = attempt.ledger.progress { known } else { nil }
    if progress?.object != object { progress = nil }
    for _ in 0..<2 {
      do throws(TransferError) {
        let parts = S3Parts(attempt: attempt, client: client, options: options)
        var stored: [Int: S3Parts.Part] = [:]
        if let progress {
          stored = try await parts.list(progress)
        } else {
          progress = try await create(attempt, client, object)
        }
        guard let progress else { preconditionFailure("an upload was made or known") }
        let all = try await parts.send(progress, stored)
        // The parts are combined only if the file is unchanged.
        let source = attempt.source
        try await BlockingIO.run { () throws(TransferError) in try source.check() }
        return try await complete(attempt, client, progress, all)
      } catch .upload(.gone) {
        if let expected = progress?.completing, try await isThere(client, etag: expected) {
          attempt.tracker.resume(from: attempt.source.size)
          return
        }
        progress = nil
        attempt.ledger.clear()
        attempt.tracker.resume(from: 0)
      }
    }
    throw .response(.malformed("the server does not have the upload that it has just created"))
  }

  // MARK: Small files

  private func put(_ attempt: UploadAttempt, _ client: S3Client) async throws(TransferError) {
    let range = attempt.source.range
    let digest = try await S3Parts.sha256(attempt.source, range)
    var headers = making(attempt)
    headers.set("x-amz-checksum-sha256", digest.base64)
    if attempt.upload.onlyIfAbsent { headers[.ifNoneMatch] = "*" }
    let response = try await client.send(
      .init(method: .put, headers: headers, isMaking: true, payload: .sha256(digest.hex)) {
        attempt.body(of: range).body
      })
    // Some servers and proxies respond 200 and report the failure in the document.
    if let root = XMLElement(response.data), let failure = S3Failure(root) {
      throw failure.transferError(nil).asTransient
    }
    try response.checkSent()
    attempt.tracker.acknowledge(attempt.source.size)
  }

  /// The object's header fields: the user's, or a type guessed from the file's name.
  private func making(_ attempt: UploadAttempt) -> HTTPFields {
    guard attempt.request.headers[.contentType] == nil else { return [:] }
    return [.contentType: MediaTypeTable.mediaType(forFileName: attempt.source.name)]
  }

  // MARK: In parts

  private func create(
    _ attempt: UploadAttempt, _ client: S3Client, _ object: String
  ) async throws(TransferError) -> S3Progress {
    var headers = making(attempt)
    headers.set("x-amz-checksum-algorithm", "SHA256")
    let call = S3Client.Call(
      method: .post, query: [("uploads", nil)], headers: headers, isMaking: true, isOnce: true
    ) { UploadBody(Data()) }
    let response = try await withCancellationGracePeriod { () throws(TransferError) in try await client.send(call) }
    guard let root = XMLElement(response.data), let id = root["UploadId"]?.text, !id.isEmpty else {
      throw .response(.malformed("the response has no UploadId"))
    }
    let progress = S3Progress(
      uploadID: id, object: object, partSize: S3Parts.size(for: attempt.source.size, wanted: options.partSize))
    // An upload that is not recorded would cost money until it is deleted.
    try await attempt.ledger.record(.s3(progress), for: attempt)
    return progress
  }

  private func complete(
    _ attempt: UploadAttempt, _ client: S3Client, _ progress: S3Progress, _ parts: [S3Parts.Part]
  ) async throws(TransferError) {
    var progress = progress
    progress.completing = S3Parts.expectedETag(parts)
    try await attempt.ledger.record(.s3(progress), acknowledged: attempt.source.size, for: attempt)
    let document = Data(S3Parts.document(parts).utf8)
    var headers: HTTPFields = [.contentType: "application/xml"]
    if attempt.upload.onlyIfAbsent { headers[.ifNoneMatch] = "*" }
    let response = try await client.send(
      .init(
        method: .post, query: [("uploadId", progress.uploadID)], headers: headers, isOnce: true,
        payload: .of(document)
      ) { UploadBody(document) })
    // The status arrives before the parts are combined: only the document contains the outcome.
    guard let root = XMLElement(response.data) else {
      throw .connection(.broken("the response to CompleteMultipartUpload is incomplete"))
    }
    if let failure = S3Failure(root) { throw failure.transferError(nil).asTransient }
    guard root.name == "CompleteMultipartUploadResult" else {
      throw .response(.malformed("the response to CompleteMultipartUpload is \(RemoteErrors.printable(root.name))"))
    }
    try await compareLength(attempt, client, etag: root["ETag"].map { Self.unquoted($0.text) })
  }

  /// Compares the length of the object that was put together: not every server checks the parts. If the object cannot
  /// be examined, the earlier response decides.
  /// - Parameter etag: what the server says that the object has.
  /// - Throws: `.upload(.lengthDiffers)`, and `.cancelled`.
  private func compareLength(
    _ attempt: UploadAttempt, _ client: S3Client, etag: String?
  ) async throws(TransferError) {
    for seconds in [1, 2, 4, nil] as [Int64?] {
      guard let object = try await examined(client), object.length != attempt.source.size else { return }
      // Some stores show the object of before for a while.
      if let seconds, etag == nil || object.etag != etag {
        try? await Task.pause(for: .seconds(seconds))
        if Task.isCancelled { throw .cancelled }
        continue
      }
      // The server has ended this upload: nothing of it can be continued.
      attempt.ledger.clear()
      throw .upload(.lengthDiffers(expected: attempt.source.size, actual: object.length))
    }
  }

  /// - Returns: `nil` if the object cannot be examined.
  private func examined(_ client: S3Client) async throws(TransferError) -> (length: Int64, etag: String?)? {
    let response: UploadResponse
    do throws(TransferError) {
      response = try await client.send(.init(method: .head, headers: [.acceptEncoding: "identity"]))
    } catch {
      if error.isCancellation { throw error }
      return nil
    }
    guard let head = response.head, head.status == 200, head.contentCoding == nil,
      let length = try? head.contentLength()
    else { return nil }
    return (length, head.headers[.eTag].map(Self.unquoted))
  }

  private static func unquoted(_ etag: String) -> String { etag.filter { $0 != "\"" } }

  /// Whether the object is the result of an earlier request whose response was lost.
  private func isThere(_ client: S3Client, etag: String) async throws(TransferError) -> Bool {
    do throws(TransferError) {
      let response = try await client.send(.init(method: .head))
      return response.head?.headers[.eTag] == "\"\(etag)\""
    } catch {
      if error.status == 404 { return false }
      throw error
    }
  }

  // MARK: Removal

  func abandon(
    _ progress: UploadLedger.Progress, _ request: TransferRequest, _ wire: UploadClient
  ) async throws(TransferError) {
    guard case .s3(let known) = progress else { return }
    var request = request
    // The object of the recorded upload, whatever the target is now.
    request.url = try RequestURL(known.object)
    let client = try await S3Client(request, options, environment, wire)
    do throws(TransferError) {
      _ = try await client.send(.init(method: .delete, query: [("uploadId", known.uploadID)]))
    } catch {
      if case .upload(.gone) = error { return }
      if error.status == 404 { return }
      throw error
    }
  }
}

extension TransferError {
  /// A failure that S3 reported after a status of 200: the parts exist, and the same request may succeed.
  fileprivate var asTransient: TransferError {
    guard case .upload(.refused(let code, let message, let status, let delay, _)) = self else { return self }
    let isFinal =
      code == "InvalidPart" || code == "EntityTooSmall" || code == "AccessDenied" || code == "PreconditionFailed"
    return .upload(.refused(code: code, message: message, status: status, retryAfter: delay, isTransient: !isFinal))
  }
}
