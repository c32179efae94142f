import Foundation

/// A tus 1.0.0 server on the loopback server. It is correct unless a test replaces some responses.
///
/// It stores at most `LoopbackServer.keptBodyBytes` of each request, enough for uploads of a few MiB.
public final class ScriptedTus: Sendable {
  /// Returns another script for a request; the number counts the requests of that method from 0.
  public typealias Fault = @Sendable (_ request: ServedRequest, _ number: Int) -> Change?

  public enum Change: Sendable {
    /// Runs this script instead.
    case instead(Script)
    /// Accepts this many bytes of the body, and then runs the script.
    case take(Int64, then: [Script.Step])
    /// Sends another Location for a new upload.
    case location(String)
    /// Adds fields to the response.
    case fields(HeaderList)
  }

  public let server: LoopbackServer
  private let shelf = UploadShelf()

  public init(extensions: String? = "creation,expiration,termination", fault: @escaping Fault = { _, _ in nil }) throws
  {
    server = try LoopbackServer(bodies: .byScript) { [shelf] request in
      Self.answer(request, shelf, extensions, fault)
    }
    shelf.attach(server)
  }

  public var url: String { server.url("/files/") }
  public var requests: [ServedRequest] { server.requests }
  public func requests(_ method: String) -> [ServedRequest] { server.requests.filter { $0.method == method } }

  /// The names of the stored uploads.
  public var uploads: [String] { shelf.names }

  /// The bytes of an upload.
  public func bytes(of name: String) -> Data { shelf.bytes(of: name) }

  /// The total number of received body bytes.
  public var bytesArrived: Int64 { server.requests.reduce(0) { $0 + $1.bodyLength } }

  private static func answer(
    _ request: ServedRequest, _ shelf: UploadShelf, _ extensions: String?, _ fault: Fault
  ) -> Script {
    let change = fault(request, shelf.number(request.method))
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
    if request.method == "POST" { return create(request, shelf, fields, change) }
    let name = String(request.path.dropFirst("/files/".count))
    guard let upload = shelf[name] else { return .response(404) }
    switch request.method {
    case "HEAD":
      fields["Upload-Offset"] = fields["Upload-Offset"] ?? String(shelf.offset(of: upload))
      fields["Upload-Length"] = String(upload.length)
      fields["Cache-Control"] = "no-store"
      return [.status(200, headers: fields), .keepAlive]
    case "PATCH":
      guard request.headers["Content-Type"] == "application/offset+octet-stream" else { return .response(415) }
      guard request.headers["Upload-Offset"] == String(shelf.offset(of: upload)) else { return .response(409) }
      return take(request, name, shelf, 204, fields, change)
    case "DELETE":
      shelf.change(name) { $0.isGone = true }
      return .response(204, headers: fields)
    default: return .response(405)
    }
  }

  private static func create(
    _ request: ServedRequest, _ shelf: UploadShelf, _ fields: HeaderList, _ change: Change?
  ) -> Script {
    var fields = fields
    let name = shelf.add { uploads in
      var upload = UploadShelf.Upload(length: Int64(request.headers["Upload-Length"] ?? "") ?? 0)
      if let concat = request.headers["Upload-Concat"], concat.hasPrefix("final;") {
        for url in concat.dropFirst(6).split(separator: " ") {
          let part = uploads[String(url.split(separator: "/").last ?? "")]
          upload.pieces += (part?.pieces ?? []).map { (request: $0.request, start: upload.length + $0.start) }
          upload.length += part?.length ?? 0
        }
      }
      return upload
    }
    fields["Location"] = "/files/\(name)"
    if case .location(let location)? = change { fields["Location"] = location }
    if let length = request.headers["Content-Length"], length != "0" {
      return take(request, name, shelf, 201, fields, change)
    }
    return .response(201, headers: fields)
  }

  private static func take(
    _ request: ServedRequest, _ name: String, _ shelf: UploadShelf, _ status: Int, _ fields: HeaderList,
    _ change: Change?
  ) -> Script {
    var fields = fields
    let length = Int64(request.headers["Content-Length"] ?? "") ?? 0
    let start = Int64(request.headers["Upload-Offset"] ?? "0") ?? 0
    shelf.change(name) { $0.pieces.append((request: request.index, start: start)) }
    var steps: [Script.Step] = []
    if request.headers["Expect"] != nil { steps.append(.raw(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8))) }
    if case .take(let limit, let then)? = change { return Script(steps + [.readBody(upTo: limit)] + then) }
    fields["Upload-Offset"] = fields["Upload-Offset"] ?? String(start + length)
    if status != 204 { fields["Content-Length"] = "0" }
    return Script(steps + [.readBody(), .status(status, headers: fields), .keepAlive])
  }
}
