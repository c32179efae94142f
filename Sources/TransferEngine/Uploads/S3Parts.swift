import Digests
import FoundationEssentials
import HTTPTypes
import Threads
import WireValues

/// The parts of a multipart upload: lists those on the server and sends the missing ones.
struct S3Parts: Sendable {
  let attempt: UploadAttempt
  let client: S3Client
  let options: S3Options

  struct Part: Sendable, Equatable {
    /// Begins with 1.
    var number: Int
    var etag: String
    /// Base64; `nil` if the server does not keep checksums.
    var checksum: String?
    var size: Int64
  }

  static let maximumParts: Int64 = 10_000
  static let smallestPart: Int64 = 5 << 20
  private static let maximumRetries = 4
  /// A page has 1,000 parts, with some servers fewer. The limit ends a list that never ends; parts that are not found
  /// in it are sent again.
  private static let maximumPages = 200

  /// Bytes of one part: whole MiB, large enough for at most 10,000 parts.
  static func size(for total: Int64, wanted: Int64?) -> Int64 {
    let least = total / maximumParts + (total % maximumParts == 0 ? 0 : 1)  // checked: at most total
    let size = min(max(wanted ?? 8 << 20, least, smallestPart), S3Progress.largestPart)
    let unit: Int64 = 1 << 20
    return (size + unit - 1) / unit * unit  // checked: size is at most `largestPart`
  }

  /// Parts that are sent at the same time.
  private var width: Int { max(1, min(options.parallelParts, 64)) }

  private func range(_ number: Int, _ progress: S3Progress) -> Range<Int64> {
    let size = attempt.source.size
    let start = Int64(number - 1) * progress.partSize  // checked: number is at most `count`, so this is below size
    return start..<(size - start < progress.partSize ? size : start + progress.partSize)  // checked: start ≤ size
  }

  /// At least one: an empty file has one empty part.
  private func count(_ progress: S3Progress) -> Int {
    let size = attempt.source.size
    return max(1, Int(size / progress.partSize + (size % progress.partSize == 0 ? 0 : 1)))  // checked: partSize ≥ 1
  }

  // MARK: What the server has

  /// The parts on the server that have the right size.
  /// - Throws: `.upload(.gone)` if the server does not know the upload.
  func list(_ progress: S3Progress) async throws(TransferError) -> [Int: Part] {
    var parts: [Int: Part] = [:]
    var marker = "0"
    for _ in 0..<Self.maximumPages {
      let response = try await client.send(
        .init(
          method: .get,
          query: [
            ("max-parts", "1000"), ("part-number-marker", marker), ("uploadId", progress.uploadID),
          ]))
      // AWS: `ListPartsResult`; others end the name differently.
      guard let root = XMLElement(response.data), root.name.hasPrefix("ListParts") else {
        throw .response(.malformed("the response to ListParts is not a list"))
      }
      for element in root.all("Part") {
        guard let part = Part(element), (1...count(progress)).contains(part.number),
          part.size == Int64(range(part.number, progress).count)
        else { continue }
        parts[part.number] = part
      }
      let next = root["NextPartNumberMarker"]?.text ?? ""
      guard root["IsTruncated"]?.text == "true", let old = CheckedNumber(digits: marker).value,
        let new = CheckedNumber(digits: next).value, new > old, new < count(progress)
      else { break }
      marker = next
    }
    try await attempt.resume(from: try parts.values.map(\.size).checkedSum.orThrow(TransferError.upload(.gone)))
    return parts
  }

  // MARK: What is missing

  /// Sends the missing parts, several at the same time.
  /// - Returns: all parts in order.
  func send(_ progress: S3Progress, _ stored: [Int: Part]) async throws(TransferError) -> [Part] {
    var missing = (1...count(progress)).filter { stored[$0] == nil }[...]
    var parts = stored
    let failure = await withTaskGroup(of: Result<Part, TransferError>.self) { group -> TransferError? in
      var first: TransferError?
      for _ in 0..<width {
        if let number = missing.popFirst() { group.addTask { await result(of: number, progress) } }
      }
      while let result = await group.next() {
        do throws(TransferError) {
          let part = try result.get()
          parts[part.number] = part
          try await attempt.ledger.note(acknowledged: attempt.tracker.progress.acknowledged)
          if first == nil, let number = missing.popFirst() {
            group.addTask { await self.result(of: number, progress) }
          }
        } catch {
          // The first failure ends the other transfers; their bytes are sent again later.
          if first == nil { group.cancelAll() }
          first = first ?? error
        }
      }
      return first
    }
    if let failure { throw failure }
    return parts.values.sorted { $0.number < $1.number }
  }

  private func result(of number: Int, _ progress: S3Progress) async -> Result<Part, TransferError> {
    do throws(TransferError) {
      return .success(try await send(number, progress))
    } catch {
      return .failure(error)
    }
  }

  /// Sends one part, with some attempts of its own: a server that is busy for one part need not be busy for the others.
  private func send(_ number: Int, _ progress: S3Progress) async throws(TransferError) -> Part {
    let range = range(number, progress)
    let digest = try await Self.sha256(attempt.source, range)
    let policy = RetryPolicy(
      retryLimit: Self.maximumRetries, maximumDelay: .seconds(8), maximumRetryAfter: .seconds(30))
    var generator = SystemRandomNumberGenerator()
    for count in 1... {
      let transfer = attempt.body(of: range)
      do throws(TransferError) {
        let part = try await put(number, progress, transfer.body, digest)
        attempt.tracker.end(transfer.number, bytes: Int64(range.count))
        return part
      } catch {
        attempt.tracker.end(transfer.number, bytes: 0)
        guard count < Self.maximumRetries, error.isTransient, !error.isConnectionFailure, !Task.isCancelled else {
          throw error
        }
        try? await Task.pause(
          for: policy.delay(forAttempt: count, retryAfter: error.retryAfter, using: &generator))
        if Task.isCancelled { throw .cancelled }
      }
    }
    preconditionFailure("the loop ends by itself")
  }

  private func put(
    _ number: Int, _ progress: S3Progress, _ body: UploadBody, _ digest: (hex: String, base64: String)
  ) async throws(TransferError) -> Part {
    var headers: HTTPFields = [:]
    headers.set("x-amz-checksum-sha256", digest.base64)
    let response = try await client.send(
      .init(
        method: .put, query: [("partNumber", String(number)), ("uploadId", progress.uploadID)], headers: headers,
        share: min(width, count(progress)), payload: .sha256(digest.hex)
      ) { body })
    try response.checkSent()
    guard let head = response.head, let etag = head.headers[.eTag], !etag.isEmpty else {
      throw .response(.malformed("no ETag for part \(number)"))
    }
    return Part(number: number, etag: etag, checksum: head.field("x-amz-checksum-sha256"), size: body.size)
  }

  static func sha256(
    _ source: OpenSource, _ range: Range<Int64>
  ) async throws(TransferError) -> (hex: String, base64: String) {
    try await BlockingIO.run { () throws(TransferError) in
      var hash = IncrementalHash(.sha256)
      try source.forEachPiece(of: range) { hash.update($0) }
      let digest = hash.finalize()
      return (digest.hex, Data(digest).base64EncodedString())
    }
  }

  // MARK: Putting together

  /// The document that completes the upload: the parts in order.
  static func document(_ parts: [Part]) -> String {
    let lines = parts.map { part in
      "<Part><PartNumber>\(part.number)</PartNumber><ETag>\(XMLElement.escaped(part.etag))</ETag>"
        + (part.checksum.map { "<ChecksumSHA256>\(XMLElement.escaped($0))</ChecksumSHA256>" } ?? "") + "</Part>"
    }
    return "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">" + lines.joined()
      + "</CompleteMultipartUpload>"
  }

  /// The ETag that the object will have: the MD5 of the parts' MD5s, and their number. `nil` if the parts' ETags are
  /// not MD5s, as with KMS keys.
  static func expectedETag(_ parts: [Part]) -> String? {
    var bytes: [UInt8] = []
    for part in parts {
      guard let digest = [UInt8](hex: part.etag.filter { $0 != "\"" }), digest.count == 16 else { return nil }
      bytes += digest
    }
    return "\(HashFunction.md5.digest(of: bytes).hex)-\(parts.count)"
  }
}

extension S3Parts.Part {
  /// A part of a list.
  fileprivate init?(_ element: XMLElement) {
    guard let number = element["PartNumber"].flatMap({ CheckedNumber(digits: $0.text.trimmingBlanks()).int }),
      let etag = element["ETag"]?.text, !etag.isEmpty,
      let size = element["Size"].flatMap({ CheckedNumber(digits: $0.text.trimmingBlanks()).value })
    else { return nil }
    self.init(number: number, etag: etag, checksum: element["ChecksumSHA256"]?.text, size: size)
  }
}
