import Foundation

/// A server of "Resumable Uploads for HTTP" on the loopback server, with one interop version. It is correct unless a
/// test replaces some responses. Its target responds with `201` and the body `done`.
public final class ScriptedResumable: Sendable {
  /// Returns another behaviour for a request; the number counts the requests of that method from 0.
  public typealias Fault = @Sendable (_ request: ServedRequest, _ number: Int) -> Change?

  public enum Change: Sendable {
    /// Runs this script instead.
    case instead(Script)
    /// Accepts this many bytes of the body, reports them by a 104, and then runs the script.
    case take(Int64, then: [Script.Step])
    /// Sends another final status of the target.
    case target(Int)
    /// Sends no Location of the upload.
    case silent
  }

  public let server: LoopbackServer
  private let shelf = UploadShelf()

  public init(version: Int = 8, limit: String? = nil, fault: @escaping Fault = { _, _ in nil }) throws {
    server = try LoopbackServer(bodies: .byScript) { [shelf] request in
      Self.answer(request, shelf, version, limit, fault)
    }
    shelf.attach(server)
  }

  public var url: String { server.url("/target") }
  public var requests: [ServedRequest] { server.requests }
  public func requests(_ method: String) -> [ServedRequest] { server.requests.filter { $0.method == method } }
  public var uploads: [String] { shelf.names }
  public func bytes(of name: String) -> Data { shelf.bytes(of: name) }
  public func isComplete(_ name: String) -> Bool { shelf[name]?.isComplete ?? false }
  public var bytesArrived: Int64 { server.requests.reduce(0) { $0 + $1.bodyLength } }

  private static func answer(
    _ request: ServedRequest, _ shelf: UploadShelf, _ version: Int, _ limit: String?, _ fault: Fault
  ) -> Script {
    let change = fault(request, shelf.number(request.method))
    if case .instead(let script)? = change { return script }
    let marks = request.headers[version <= 3 ? "Upload-Incomplete" : "Upload-Complete"]
    let isLast = marks == (version <= 3 ? "?0" : "?1")
    let isOurs = request.headers["Upload-Draft-Interop-Version"] == String(version)
    if request.path == "/target" {
      guard isOurs, marks != nil else {
        return Script(proceed(request) + [.readBody(), .status(201, headers: ["Content-Length": "0"]), .keepAlive])
      }
      let length = Int64(request.headers["Content-Length"] ?? "") ?? 0
      let name = shelf.add { _ in UploadShelf.Upload(length: Int64(request.headers["Upload-Length"] ?? "") ?? length) }
      return take(request, name, shelf, version, limit, isLast, isNew: true, change)
    }
    let name = String(request.path.dropFirst("/uploads/".count))
    guard isOurs, let upload = shelf[name] else { return .response(404) }
    let offset = shelf.offset(of: upload)
    switch request.method {
    case "HEAD":
      return [
        .status(
          204,
          headers: [
            "Upload-Draft-Interop-Version": String(version), "Upload-Offset": String(offset),
            version <= 3 ? "Upload-Incomplete" : "Upload-Complete": upload.isComplete == (version > 3) ? "?1" : "?0",
          ]), .keepAlive,
      ]
    case "PATCH":
      if version >= 6, request.headers["Content-Type"] != "application/partial-upload" { return .response(415) }
      guard request.headers["Upload-Offset"] == String(offset) else {
        return .response(409, headers: ["Upload-Offset": String(offset), "Upload-Complete": "?0"])
      }
      return take(request, name, shelf, version, limit, isLast, isNew: false, change)
    case "DELETE":
      shelf.change(name) { $0.isGone = true }
      return .response(204)
    default: return .response(405)
    }
  }

  private static func proceed(_ request: ServedRequest) -> [Script.Step] {
    request.headers["Expect"] == nil ? [] : [.raw(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8))]
  }

  private static func interim(_ version: Int, _ fields: String...) -> Script.Step {
    let lines = ["HTTP/1.1 104 Upload Resumption Supported", "Upload-Draft-Interop-Version: \(version)"] + fields
    return .raw(Data((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8))
  }

  private static func take(
    _ request: ServedRequest, _ name: String, _ shelf: UploadShelf, _ version: Int, _ limit: String?, _ isLast: Bool,
    isNew: Bool, _ change: Change?
  ) -> Script {
    let length = Int64(request.headers["Content-Length"] ?? "") ?? 0
    let start = Int64(request.headers["Upload-Offset"] ?? "0") ?? 0
    shelf.change(name) { $0.pieces.append((request: request.index, start: start)) }
    var steps: [Script.Step] = []
    if isNew {
      if case .silent? = change {
      } else {
        let limits = limit.map { ["Upload-Limit: \($0)"] } ?? []
        steps.append(
          limits.isEmpty
            ? interim(version, "Location: /uploads/\(name)")
            : interim(version, "Location: /uploads/\(name)", limits[0]))
      }
    }
    steps += proceed(request)
    if case .take(let bytes, let then)? = change {
      return Script(steps + [.readBody(upTo: bytes), interim(version, "Upload-Offset: \(start + bytes)")] + then)
    }
    steps.append(.readBody())
    var fields: HeaderList = ["Upload-Draft-Interop-Version": String(version)]
    if isLast {
      shelf.change(name) { $0.isComplete = true }
      var status = 201
      if case .target(let other)? = change { status = other }
      fields[version <= 3 ? "Upload-Incomplete" : "Upload-Complete"] = version <= 3 ? "?0" : "?1"
      fields["Content-Length"] = "4"
      return Script(steps + [.status(status, headers: fields), .body(Data("done".utf8)), .keepAlive])
    }
    fields[version <= 3 ? "Upload-Incomplete" : "Upload-Complete"] = version <= 3 ? "?1" : "?0"
    fields["Upload-Offset"] = String(start + length)
    fields["Content-Length"] = "0"
    if isNew { fields["Location"] = "/uploads/\(name)" }
    return Script(steps + [.status(isNew ? 201 : 204, headers: fields), .keepAlive])
  }
}
