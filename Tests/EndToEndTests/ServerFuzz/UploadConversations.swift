import Foundation
import TestSupport

/// An upload by tus. If the server has not lied about its bytes, a completed job means that it has all of them.
final class TusConversation: Conversation {
  private let dialogue: Dialogue
  private let server: ScriptedTus
  private let source: Payload

  init(seed: UInt64) throws {
    let dialogue = Dialogue(seed: seed)
    source = dialogue.state.withLock { state in
      Payload(size: state.random.one(of: [0, 1, 5000, 300_000, 2_000_000]), seed: seed)
    }
    let size = source.size
    self.dialogue = dialogue
    let extensions = dialogue.state.withLock { state in
      state.random.one(of: [
        "creation,expiration,termination", "creation,creation-with-upload", "creation,concatenation,checksum", nil,
      ])
    }
    server = try ScriptedTus(extensions: extensions) { request, _ in
      dialogue.state.withLock { Self.change(request, size, &$0) }
    }
  }

  func job(in directory: String) throws -> [String: Any] {
    let path = directory + "/source"
    try source.write(to: path)
    return [
      "kind": "upload", "source": path, "destination": server.url, "protocol": "tus", "maxAttempts": 3,
      "stallTimeout": 2,
      "connectTimeout": 5,
    ]
  }

  func fault(ofCompletedJobIn directory: String) throws -> String? {
    guard !dialogue.state.withLock({ $0.hasLied }) else { return nil }
    let wanted = source.data
    return server.uploads.contains { server.bytes(of: $0) == wanted }
      ? nil : "completed, and the server does not hold the file"
  }

  var answers: [String] { dialogue.state.withLock { $0.answers } }

  private static func change(
    _ request: ServedRequest, _ size: Int64, _ state: inout Dialogue.State
  ) -> ScriptedTus.Change? {
    guard state.random.chance(45) else {
      state.answers.append("\(request.method) \(request.target)")
      return nil
    }
    let number = state.hostileNumber(near: [size])
    let kind = state.random.number(0...11)
    state.answers.append("\(request.method) \(request.target): change \(kind) \(number.prefix(60))")
    switch kind {
    case 0...1:
      let status = state.random.one(of: [500, 503, 429, 404, 410, 403, 409, 423, 412, 460, 413])
      return .instead(.response(status, headers: ["Retry-After": state.retryAfter()], text: "no\n"))
    case 2: return .instead([.raw(state.garbage(1...800)), .close])
    case 3...4:
      let taken = state.random.number(0...max(0, size))
      return .take(taken, then: [state.random.chance(50) ? .reset : .close])
    case 5: return .take(size / 2, then: [.status(500, headers: ["Content-Length": "0"]), .close])
    case 6:
      state.hasLied = true
      return .fields(["Upload-Offset": number])
    case 7:
      state.hasLied = true
      return .location(
        state.random.one(of: [
          "", "//", "http://127.0.0.1:1/", "file:///etc/passwd", "/files/nope", "\u{0}", number, "?", "ftp://x/y",
        ]))
    case 8:
      return .fields([
        "Tus-Max-Size": number, "Upload-Expires": state.retryAfter(),
        "Tus-Extension": String(repeating: "creation,", count: 500),
        "Tus-Checksum-Algorithm": "x,,=", "Retry-After": state.retryAfter(),
      ])
    case 9:
      state.hasLied = true
      return .instead(.response(state.random.one(of: [200, 201, 204, 206, 304]), headers: ["Upload-Offset": number]))
    case 10:
      return .instead([
        .raw(Data("HTTP/1.1 200 OK\r\n".utf8)), .endless(Data("X: \(String(repeating: "y", count: 900))\r\n".utf8)),
      ])
    default:
      return .instead(
        .redirect(
          to: state.random.one(of: ["/files/", request.target, "http://127.0.0.1:1/", ""]),
          status: state.random.one(of: [301, 302, 303, 307, 308])))
    }
  }
}

/// An upload to S3, in one piece or in parts. Responses may be invalid XML.
final class S3Conversation: Conversation {
  private let dialogue: Dialogue
  private let server: ScriptedS3
  private let source: Payload

  init(seed: UInt64) throws {
    let dialogue = Dialogue(seed: seed)
    let size = dialogue.state.withLock { state -> Int64 in
      state.random.chance(12) ? 17 << 20 : state.random.one(of: [0, 1, 5000, 500_000])
    }
    source = Payload(size: size, seed: seed)
    self.dialogue = dialogue
    let page = dialogue.state.withLock { $0.random.one(of: [1, 2, 1000]) }
    server = try ScriptedS3(page: page) { operation, _, _ in
      dialogue.state.withLock { Self.script(operation, size, &$0) }
    }
  }

  func job(in directory: String) throws -> [String: Any] {
    let path = directory + "/source"
    try source.write(to: path)
    return [
      "kind": "upload", "source": path, "destination": server.server.url("/bucket/key"), "protocol": "s3",
      "region": "us-east-1",
      "maxAttempts": 3, "stallTimeout": 2, "connectTimeout": 5,
    ]
  }

  func fault(ofCompletedJobIn directory: String) throws -> String? {
    guard !dialogue.state.withLock({ $0.hasLied }) else { return nil }
    return server.object == source.data ? nil : "completed, and the server does not hold the file"
  }

  var answers: [String] { dialogue.state.withLock { $0.answers } }

  private static func script(
    _ operation: ScriptedS3.Operation, _ size: Int64, _ state: inout Dialogue.State
  ) -> Script? {
    guard state.random.chance(40) else {
      state.answers.append(operation.rawValue)
      return nil
    }
    let kind = state.random.number(0...9)
    state.answers.append("\(operation.rawValue): fault \(kind)")
    switch kind {
    case 0...1:
      let code = state.random.one(of: [
        "SlowDown", "InternalError", "NoSuchUpload", "AccessDenied", "RequestTimeout", "AuthorizationHeaderMalformed",
        "PermanentRedirect", "InvalidPart", "EntityTooSmall", "", String(repeating: "x", count: 5000), "&lt;",
      ])
      let region = state.random.one(of: [
        "", "<Region>eu-west-1</Region>", "<Region>evil.example/x?</Region>", "<Region>127.0.0.1:1/</Region>",
      ])
      return ScriptedS3.error(
        state.random.one(of: [500, 503, 400, 403, 404, 301, 307, 200]), code, region,
        headers: [
          "Retry-After": state.retryAfter(),
          "x-amz-bucket-region": state.random.one(of: ["a b", "evil.example/", "eu-west-1", ""]),
        ])
    case 2: return [.close]
    case 3: return [.reset]
    case 4: return [.raw(state.garbage(1...600)), .close]
    case 5:
      state.hasLied = true
      return .response(
        200,
        headers: ["ETag": state.random.one(of: ["\"x\"", "", "\"&<>\u{301}\"", String(repeating: "e", count: 9000)])],
        text: document(&state))
    case 6:
      state.hasLied = true
      return .response(200, text: String(document(&state).prefix(state.random.number(0...200))))
    case 7:
      // Millions of elements within the few MiB of a response that are read.
      state.hasLied = true
      return .response(
        200, text: "<ListPartsResult>" + String(repeating: "<a/>", count: 900_000) + "</ListPartsResult>")
    case 8:
      state.hasLied = true  // a 200 for an object that is not stored
      return [
        .raw(Data("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)), .endless(Data("5\r\n<a>b<\r\n".utf8)),
      ]
    default:
      return .redirect(
        to: state.random.one(of: ["/bucket/key", "http://127.0.0.1:1/", ""]),
        status: state.random.one(of: [301, 307, 302]))
    }
  }

  private static func document(_ state: inout Dialogue.State) -> String {
    let number = state.hostileNumber(near: [1, 2, 8 << 20])
    return state.random.one(of: [
      "<ListPartsResult><IsTruncated>true</IsTruncated><NextPartNumberMarker>\(number)</NextPartNumberMarker></ListPartsResult>",
      "<ListPartsResult><Part><PartNumber>\(number)</PartNumber><ETag>x</ETag><Size>\(number)</Size></Part></ListPartsResult>",
      "<ListPartsResult><Part><PartNumber>1</PartNumber><ETag>x</ETag><Size>\(number)</Size></Part><IsTruncated>false</IsTruncated></ListPartsResult>",
      "<InitiateMultipartUploadResult><UploadId>\(number)&#10;?&amp;</UploadId></InitiateMultipartUploadResult>",
      "<InitiateMultipartUploadResult><UploadId>\(String(repeating: "u", count: 100_000))</UploadId></InitiateMultipartUploadResult>",
      "<CompleteMultipartUploadResult/>", "<!DOCTYPE x [<!ENTITY a \"\(number)\">]><x>&a;</x>", "<a><![CDATA[", "<", "",
      String(repeating: "<a>", count: 30_000), "<Error><Code>InternalError</Code></Error>", "{\"json\":true}",
    ])
  }
}
