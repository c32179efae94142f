import Digests
import FoundationEssentials
import HTTPTypes
import WireValues

/// Sends the bytes of tus uploads: a HEAD for the offset, then PATCH requests from there.
struct TusSender: Sendable {
  let attempt: UploadAttempt
  let server: TusServer?
  let chunkSize: Int64?
  let cacheKey: String

  static let contentType = "application/offset+octet-stream"
  /// Consecutive requests without progress before the attempt ends.
  private static let patience = 3
  /// If the server refuses even this size as too large, it refuses for good.
  private static let smallestChunk: Int64 = 256 << 10
  private static let firstSmallerChunk: Int64 = 64 << 20

  /// The server's offset.
  /// - Throws: `.upload(.gone)` if the server does not know the upload.
  func offset(of part: TusProgress.Part) async throws(TransferError) -> Int64 {
    let request = TusFields.request(try attempt.request.moved(to: part.url), .head)
    let head = try await attempt.wire.send(request).get()
    switch head.status {
    case 200..<300: break
    case 403, 404, 410: throw .upload(.gone)
    case 412: throw .upload(.unsupported("it no longer supports tus \(TusServer.version)"))
    case 400..<500 where !head.refusal.isTransient && head.status != 401 && isExpired(part): throw .upload(.gone)
    default: throw head.refusal
    }
    guard let offset = head.count("Upload-Offset") else {
      throw .response(.malformed("the response to HEAD has no Upload-Offset"))
    }
    let length = part.length
    // An offset beyond the file, or another length: not our upload.
    guard offset <= length, head.count("Upload-Length") ?? length == length else { throw .upload(.gone) }
    return offset
  }

  private func isExpired(_ part: TusProgress.Part) -> Bool {
    part.expires.map { Date().timeIntervalSince1970 > Double($0) } ?? false
  }

  static func expiry(_ head: ResponseHead) -> Int64? {
    head.field("Upload-Expires").flatMap(HTTPDate.parse).flatMap {
      CheckedNumber(rounding: $0.timeIntervalSince1970).value
    }
  }

  /// Sends several parts at the same time. The first failure ends the others; each keeps what the server has of it.
  func sendAll(_ parts: [(TusProgress.Part, Int64)]) async throws(TransferError) {
    let failure = await withTaskGroup(of: TransferError?.self) { group in
      for (part, offset) in parts {
        group.addTask {
          do throws(TransferError) {
            try await send(part, from: offset, notes: false)
            return nil
          } catch {
            return error
          }
        }
      }
      var first: TransferError?
      for await failure in group where failure != nil && first == nil {
        first = failure
        group.cancelAll()
      }
      return first
    }
    if let failure { throw failure }
  }

  /// Sends a part from an offset to its end.
  /// - Parameter notes: record the bytes that the server acknowledges; not for parallel parts, which have no order.
  func send(_ part: TusProgress.Part, from start: Int64, notes: Bool) async throws(TransferError) {
    let length = part.length
    let request = TusFields.request(try attempt.request.moved(to: part.url), .patch)
    var (offset, furthest) = (start, start)
    var failures = 0
    var chunk = max(1, min(chunkSize ?? .max, server?.chunkLimit ?? .max))
    while offset < length {
      let end = chunk < length - offset ? offset + chunk : length  // checked: 0 ≤ offset < length
      // checked: offset < end, for chunks have a byte at least
      let outcome = try await patch(request, part, offset..<end)
      switch outcome {
      case .moved(let next):
        failures = Self.failures(failures, from: offset, to: next, &furthest)
        offset = next
        if notes { try await attempt.ledger.note(acknowledged: attempt.tracker.progress.acknowledged) }
      case .elsewhere:
        let next = try await self.offset(of: part)
        attempt.tracker.correct(by: next - offset)  // checked: both lie within the part
        failures = Self.failures(failures, from: offset, to: next, &furthest)
        offset = next
      case .again: failures += 1
      case .tooLarge(let refusal):
        let smaller = min(end - offset, Self.firstSmallerChunk * 2) / 2  // checked: offset ≤ end
        guard smaller >= Self.smallestChunk else { throw refusal }
        chunk = smaller
        attempt.wire.session.serverCapabilities.limit(chunkTo: smaller, at: cacheKey)
      }
      if failures >= Self.patience {
        throw .upload(.stuck(at: offset))
      }
    }
  }

  /// Counts the requests without progress. Only bytes that the server did not have before are progress: a server whose
  /// offset goes back and forth would get the same bytes for ever.
  private static func failures(_ count: Int, from offset: Int64, to next: Int64, _ furthest: inout Int64) -> Int {
    if next > furthest {
      furthest = next
      return 0
    }
    return next > offset ? count : count + 1  // checked: the caller ends at `patience`
  }

  private enum Outcome {
    case moved(Int64)
    /// The server has another offset than expected.
    case elsewhere
    /// The chunk arrived damaged and was discarded.
    case again
    case tooLarge(TransferError)
  }

  private func patch(
    _ request: TransferRequest, _ part: TusProgress.Part, _ range: Range<Int64>
  ) async throws(TransferError) -> Outcome {
    var request = request
    request.headers[.contentType] = Self.contentType
    request.headers.set("Upload-Offset", String(range.lowerBound))
    let bytes = part.start + range.lowerBound..<part.start + range.upperBound  // checked: within the part
    if chunkSize != nil, server?.checksums.contains("sha1") == true {
      request.headers.set("Upload-Checksum", "sha1 " + (try await sha1(of: bytes)))
    }
    let transfer = attempt.body(of: bytes)
    let response = try await attempt.wire.send(request, transfer.body)
    let head = try response.get()
    switch head.status {
    case 200..<300:
      guard let next = head.count("Upload-Offset") else {
        attempt.tracker.end(transfer.number, bytes: 0)
        return .elsewhere
      }
      guard range.lowerBound...range.upperBound ~= next else {  // checked: the bounds of a range
        throw .response(.malformed("Upload-Offset is \(next) after bytes \(range)"))
      }
      // A server cannot have bytes that were not sent before it responded.
      // checked: next lies within the range
      guard next - range.lowerBound <= response.sent else {
        throw .upload(.answeredEarly(sent: response.sent, total: response.size))
      }
      attempt.tracker.end(transfer.number, bytes: next - range.lowerBound)  // checked: next lies within the range
      return .moved(next)
    case 409: return .elsewhere
    case 413: return .tooLarge(head.refusal)
    case 460: return .again
    case 403, 404, 410: throw head.status == 403 ? head.refusal : .upload(.gone)
    default: throw head.refusal
    }
  }

  private func sha1(of range: Range<Int64>) async throws(TransferError) -> String {
    let source = attempt.source
    return try await BlockingIO.run { () throws(TransferError) in
      var hash = IncrementalHash(.sha1)
      try source.forEachPiece(of: range) { hash.update($0) }
      return Data(hash.finalize()).base64EncodedString()
    }
  }
}
