import Digests
import Foundation
import Synchronization

/// A small S3 server for one object on the loopback server. It is correct unless a test replaces some responses.
/// Signatures are not verified, checksums are.
public final class ScriptedS3: Sendable {
  /// The operation of a request.
  public enum Operation: String, Sendable {
    case put, create, part, list, complete, abort, head
  }

  /// Returns another script for a request; the number counts the requests of that operation from 0.
  public typealias Fault = @Sendable (_ operation: Operation, _ request: ServedRequest, _ number: Int) -> Script?

  private struct State: Sendable {
    var uploads: [String: [Int: Data]] = [:]
    var object: Data?
    var etag: String?
    var counts: [Operation: Int] = [:]
    var operations: [Operation] = []
  }

  public let server: LoopbackServer
  private let state: Held

  private final class Held: Sendable {
    let state = Mutex(State())
  }

  /// - Parameter page: parts in one page of a list.
  public init(page: Int = 1000, fault: @escaping Fault = { _, _, _ in nil }) throws {
    let held = Held()
    state = held
    server = try LoopbackServer { request in Self.answer(request, held, page, fault) }
  }

  public var object: Data? { state.state.withLock { $0.object } }
  /// The uploads that are not complete, by their ids.
  public var uploads: [String] { state.state.withLock { $0.uploads.keys.sorted() } }
  /// The numbers of the stored parts of incomplete uploads.
  public var stored: [Int] { state.state.withLock { $0.uploads.values.flatMap(\.keys).sorted() } }
  public var operations: [Operation] { state.state.withLock { $0.operations } }
  public func count(_ operation: Operation) -> Int { operations.filter { $0 == operation }.count }

  /// Deletes incomplete uploads.
  public func forget() { state.state.withLock { $0.uploads = [:] } }

  public static func error(_ status: Int, _ code: String, _ more: String = "", headers: HeaderList = [:]) -> Script {
    .response(
      status, headers: headers,
      text: "<?xml version=\"1.0\"?>\n<Error><Code>\(code)</Code><Message>m</Message>\(more)</Error>")
  }

  private static func operation(_ request: ServedRequest, _ query: [String: String]) -> Operation {
    switch (request.method, query["uploadId"] != nil, query["partNumber"] != nil) {
    case ("PUT", true, true): .part
    case ("PUT", _, _): .put
    case ("POST", true, _): .complete
    case ("POST", _, _): .create
    case ("DELETE", _, _): .abort
    case ("HEAD", _, _): .head
    default: .list
    }
  }

  private static func answer(_ request: ServedRequest, _ held: Held, _ page: Int, _ fault: Fault) -> Script {
    var query: [String: String] = [:]
    for pair in (request.query ?? "").split(separator: "&") {
      let parts = pair.split(separator: "=", maxSplits: 1)
      query[String(parts[0])] = parts.count > 1 ? String(parts[1]) : ""
    }
    let operation = operation(request, query)
    let number = held.state.withLock { state in
      state.operations.append(operation)
      defer { state.counts[operation, default: 0] += 1 }
      return state.counts[operation, default: 0]
    }
    if let script = fault(operation, request, number) { return script }
    let sum = Data(HashFunction.sha256.digest(of: request.body)).base64EncodedString()
    if let claimed = request.headers["x-amz-checksum-sha256"], claimed != sum { return error(400, "BadDigest") }
    return held.state.withLock { state in perform(operation, request, query, page, &state) }
  }

  private static func perform(
    _ operation: Operation, _ request: ServedRequest, _ query: [String: String], _ page: Int, _ state: inout State
  ) -> Script {
    let id = query["uploadId"] ?? ""
    switch operation {
    case .put:
      state.object = request.body
      return .response(200, headers: ["ETag": etag(request.body)])
    case .create:
      let id = "id\(state.counts[.create] ?? 0)"
      state.uploads[id] = [:]
      return .response(
        200, text: "<InitiateMultipartUploadResult><UploadId>\(id)</UploadId></InitiateMultipartUploadResult>")
    case .head:
      guard let etag = state.etag else { return .response(404) }
      return [.status(200, headers: ["ETag": etag, "Content-Length": "\(state.object?.count ?? 0)"]), .keepAlive]
    case .part, .list, .complete, .abort:
      guard let parts = state.uploads[id] else { return error(404, "NoSuchUpload") }
      switch operation {
      case .part:
        state.uploads[id]?[Int(query["partNumber"]!)!] = request.body
        return .response(200, headers: ["ETag": etag(request.body)])
      case .list: return list(parts, after: Int(query["part-number-marker"] ?? "0") ?? 0, page)
      case .abort:
        state.uploads[id] = nil
        return .response(204)
      default: return complete(request, parts, id, &state)
      }
    }
  }

  private static func list(_ parts: [Int: Data], after marker: Int, _ page: Int) -> Script {
    let rest = parts.filter { $0.key > marker }.sorted { $0.key < $1.key }
    let lines = rest.prefix(page).map { number, data in
      "<Part><PartNumber>\(number)</PartNumber><ETag>\(etag(data))</ETag><Size>\(data.count)</Size></Part>"
    }
    return .response(
      200,
      text: "<ListPartsResult><IsTruncated>\(rest.count > page)</IsTruncated>"
        + "<NextPartNumberMarker>\(rest.prefix(page).last?.key ?? 0)</NextPartNumberMarker>\(lines.joined())</ListPartsResult>"
    )
  }

  private static func complete(
    _ request: ServedRequest, _ parts: [Int: Data], _ id: String, _ state: inout State
  ) -> Script {
    let text = String(decoding: request.body, as: UTF8.self)
    let numbers = text.components(separatedBy: "<PartNumber>").dropFirst().map { Int($0.prefix { $0 != "<" }) ?? 0 }
    let tags = text.components(separatedBy: "<ETag>").dropFirst().map { $0.components(separatedBy: "</ETag>")[0] }
    guard numbers == parts.keys.sorted(),
      tags == numbers.map({ etag(parts[$0]!).replacingOccurrences(of: "\"", with: "&quot;") })
    else { return error(400, "InvalidPart") }
    let whole = numbers.reduce(into: Data()) { $0.append(parts[$1]!) }
    let sums = numbers.reduce(into: Data()) { $0.append(contentsOf: HashFunction.md5.digest(of: parts[$1]!)) }
    state.object = whole
    state.etag = "\"\(HashFunction.md5.digest(of: sums).hexadecimal)-\(numbers.count)\""
    state.uploads[id] = nil
    return .response(
      200, text: "<?xml version=\"1.0\"?><CompleteMultipartUploadResult><ETag>x</ETag></CompleteMultipartUploadResult>")
  }

  private static func etag(_ data: Data) -> String { "\"\(HashFunction.md5.digest(of: data).hexadecimal)\"" }
}
