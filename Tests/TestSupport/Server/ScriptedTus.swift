import Foundation
import Synchronization

/// A tus 1.0.0 server on the loopback server: correct, unless a test says otherwise for some request.
///
/// It keeps what arrives, as far as `LoopbackServer.keptBodyBytes` goes for one request: for uploads of a few MiB.
public final class ScriptedTus: Sendable {
  /// Another script for a request; the number counts the requests of that method from 0.
  public typealias Fault = @Sendable (_ request: ServedRequest, _ number: Int) -> Change?

  public enum Change: Sendable {
    /// In place of all the server would do.
    case instead(Script)
    /// Take so many bytes of the body, and then do this.
    case take(Int64, then: [Script.Step])
    /// Another Location for a new upload.
    case location(String)
    /// Fields of the answer.
    case fields(HeaderList)
  }

  private struct Upload: Sendable {
    var length: Int64
    /// Which requests brought bytes, and from where on.
    var pieces: [(request: Int, start: Int64)] = []
    var isGone = false
  }

  private struct State: Sendable {
    var uploads: [String: Upload] = [:]
    var counts: [String: Int] = [:]
  }

  private final class Box: Sendable {
    let server = Mutex<LoopbackServer?>(nil)
    let state = Mutex(State())
  }

  public let server: LoopbackServer
  private let box: Box

  public init(extensions: String? = "creation,expiration,termination", fault: @escaping Fault = { _, _ in nil }) throws
  {
    let box = Box()
    self.box = box
    server = try LoopbackServer(bodies: .byScript) { request in
      Self.answer(request, box, extensions, fault)
    }
    box.server.withLock { [server] in $0 = server }
  }

  deinit { box.server.withLock { $0 = nil } }

  public var url: String { server.url("/files/") }
  public var requests: [ServedRequest] { server.requests }
  public func requests(_ method: String) -> [ServedRequest] { server.requests.filter { $0.method == method } }

  /// The names of the uploads that are there.
  public var uploads: [String] {
    box.state.withLock { $0.uploads.filter { !$0.value.isGone }.keys.sorted() }
  }

  /// Lets the server forget everything.
  public func forget() {
    box.state.withLock { state in
      for name in state.uploads.keys { state.uploads[name]?.isGone = true }
    }
  }

  /// The bytes of an upload.
  public func bytes(of name: String) -> Data {
    Self.bytes(box.state.withLock { $0.uploads[name]?.pieces ?? [] }, box)
  }

  /// Body bytes that arrived in all.
  public var bytesArrived: Int64 { server.requests.reduce(0) { $0 + $1.bodyLength } }

  private static func bytes(_ pieces: [(request: Int, start: Int64)], _ box: Box) -> Data {
    let requests = box.server.withLock { $0 }?.requests ?? []
    var data = Data()
    for piece in pieces where piece.start == Int64(data.count) { data.append(requests[piece.request].body) }
    return data
  }

  private static func offset(_ upload: Upload, _ box: Box) -> Int64 {
    guard let last = upload.pieces.last else { return 0 }
    let requests = box.server.withLock { $0 }?.requests ?? []
    return last.start + requests[last.request].bodyLength
  }

  private static func answer(
    _ request: ServedRequest, _ box: Box, _ extensions: String?, _ fault: Fault
  ) -> Script {
    let number = box.state.withLock { state in
      defer { state.counts[request.method, default: 0] += 1 }
      return state.counts[request.method, default: 0]
    }
    let change = fault(request, number)
    if case .instead(let script)? = change { return script }
    var fields: HeaderList = ["Tus-Resumable": "1.0.0"]
    if case .fields(let added)? = change { for (name, value) in added { fields[name] = value } }
    if request.method == "OPTIONS" {
      guard let extensions else { return .response(405) }
      fields["Tus-Version"] = "1.0.0"
      fields["Tus-Extension"] = fields["Tus-Extension"] ?? extensions
      return .response(204, headers: fields)
    }
    guard request.headers["Tus-Resumable"] == "1.0.0" else { return .response(412, headers: ["Tus-Version": "1.0.0"]) }
    if request.method == "POST" { return create(request, box, fields, change) }
    let name = String(request.path.dropFirst("/files/".count))
    guard let upload = box.state.withLock({ $0.uploads[name] }), !upload.isGone else { return .response(404) }
    switch request.method {
    case "HEAD":
      fields["Upload-Offset"] = fields["Upload-Offset"] ?? String(offset(upload, box))
      fields["Upload-Length"] = String(upload.length)
      fields["Cache-Control"] = "no-store"
      return [.status(200, headers: fields), .keepAlive]
    case "PATCH":
      guard request.headers["Content-Type"] == "application/offset+octet-stream" else { return .response(415) }
      guard request.headers["Upload-Offset"] == String(offset(upload, box)) else { return .response(409) }
      return take(request, name, box, 204, fields, change)
    case "DELETE":
      box.state.withLock { $0.uploads[name]?.isGone = true }
      return .response(204, headers: fields)
    default: return .response(405)
    }
  }

  private static func create(
    _ request: ServedRequest, _ box: Box, _ fields: HeaderList, _ change: Change?
  ) -> Script {
    var fields = fields
    let name = box.state.withLock { state in
      let name = "u\(state.uploads.count)"
      var upload = Upload(length: Int64(request.headers["Upload-Length"] ?? "") ?? 0)
      if let concat = request.headers["Upload-Concat"], concat.hasPrefix("final;") {
        for url in concat.dropFirst(6).split(separator: " ") {
          let part = state.uploads[String(url.split(separator: "/").last ?? "")]
          upload.pieces += (part?.pieces ?? []).map { (request: $0.request, start: upload.length + $0.start) }
          upload.length += part?.length ?? 0
        }
      }
      state.uploads[name] = upload
      return name
    }
    fields["Location"] = "/files/\(name)"
    if case .location(let location)? = change { fields["Location"] = location }
    if let length = request.headers["Content-Length"], length != "0" {
      return take(request, name, box, 201, fields, change)
    }
    return .response(201, headers: fields)
  }

  private static func take(
    _ request: ServedRequest, _ name: String, _ box: Box, _ status: Int, _ fields: HeaderList, _ change: Change?
  ) -> Script {
    var fields = fields
    let length = Int64(request.headers["Content-Length"] ?? "") ?? 0
    let start = Int64(request.headers["Upload-Offset"] ?? "0") ?? 0
    box.state.withLock { $0.uploads[name]?.pieces.append((request: request.index, start: start)) }
    var steps: [Script.Step] = []
    if request.headers["Expect"] != nil { steps.append(.raw(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8))) }
    if case .take(let limit, let then)? = change { return Script(steps + [.readBody(upTo: limit)] + then) }
    fields["Upload-Offset"] = fields["Upload-Offset"] ?? String(start + length)
    if status != 204 { fields["Content-Length"] = "0" }
    return Script(steps + [.readBody(), .status(status, headers: fields), .keepAlive])
  }
}
