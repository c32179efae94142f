import FoundationEssentials
import Testing

@testable import transferctl

@Suite struct HTTPResponseParserTests {
  /// What one response says: its status, its body, and whether it is complete when the connection ends.
  struct Outcome: Equatable {
    var status: Int?
    var body = ""
    var failure: String?
  }

  private static func read(_ pieces: [ArraySlice<UInt8>]) -> Outcome {
    var parser = HTTPResponseParser()
    var outcome = Outcome()
    do throws(HTTPResponseParser.Malformed) {
      for piece in pieces {
        for element in try parser.push(piece) {
          switch element {
          case .status(let status): outcome.status = status
          case .body(let bytes): outcome.body += String(decoding: bytes, as: UTF8.self)
          }
        }
      }
      try parser.finish()
    } catch {
      outcome.failure = error.description
    }
    return outcome
  }

  private static let ok = "HTTP/1.1 200 OK\r\n"
  private static let responses: [(String, Outcome)] = [
    (ok + "Content-Length: 5\r\n\r\nhello", Outcome(status: 200, body: "hello")),
    (ok + "content-length:5 \r\n\r\nhello and more", Outcome(status: 200, body: "hello")),
    (ok + "Content-Length: 0\r\n\r\n", Outcome(status: 200)),
    (ok + "Content-Length: 2\r\nContent-Length: 2\r\n\r\nab", Outcome(status: 200, body: "ab")),
    (ok + "\r\nuntil the end", Outcome(status: 200, body: "until the end")),
    ("HTTP/1.0 404\n\nold", Outcome(status: 404, body: "old")),
    ("HTTP/1.1 204 No Content\r\nContent-Length: 9\r\n\r\n", Outcome(status: 204)),
    (
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + ok + "Content-Length: 1\r\n\r\nx",
      Outcome(status: 200, body: "x")
    ),
    (
      ok + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;name=value\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n",
      Outcome(status: 200, body: "abc0123456789")
    ),
    (ok + "Transfer-Encoding: Chunked\r\n\r\n0\r\n\r\n", Outcome(status: 200)),
  ]

  @Test("responses are the same wherever they are cut", arguments: responses)
  func complete(_ text: String, _ outcome: Outcome) {
    let bytes = Array(text.utf8)
    #expect(Self.read([bytes[...]]) == outcome)
    #expect(Self.read(bytes.indices.map { bytes[$0...$0] }) == outcome)
    for index in bytes.indices { #expect(Self.read([bytes[..<index], bytes[index...]]) == outcome) }
  }

  @Test(
    "a response that ends early is an error",
    arguments: [
      ("", "without a response"), ("HTTP/1.1 200", "in the middle"), (ok, "in the middle"),
      (ok + "Content-Length: 5\r\n\r\nhell", "in the middle"),
      (ok + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", "in the middle"),
      (ok + "Transfer-Encoding: chunked\r\n\r\n0\r\n", "in the middle"),
      ("HTTP/1.1 100 Continue\r\n\r\n", "in the middle"),
    ])
  func cut(_ text: String, _ words: String) throws {
    let failure = try #require(Self.read([Array(text.utf8)[...]]).failure)
    #expect(failure.contains(words))
  }

  @Test(
    "what is not HTTP/1.1 is an error",
    arguments: [
      "SSH-2.0-OpenSSH_9.2\r\n", "HTTP/2 200\r\n", "HTTP/1.1 20 OK\r\n", "HTTP/1.1 2000 OK\r\n", "HTTP/1.1 +20 OK\r\n",
      "HTTP/1.1 101 Switching Protocols\r\n", "HTTP/1.1 600 No\r\n", "\r\n", "\n\n",
      ok + "no colon\r\n", ok + "Content-Length: -1\r\n", ok + "Content-Length: 1 1\r\n", ok + "Content-Length:\r\n",
      ok + "Content-Length: 99999999999999999999\r\n", ok + "Content-Length: 1\r\nContent-Length: 2\r\n",
      ok + "Transfer-Encoding: gzip, chunked\r\n", ok + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
      ok + "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n", ok + "A: b\rc\r\n", ok + "A: b\0\r\n",
      ok + "Transfer-Encoding: chunked\r\n\r\n-1\r\n", ok + "Transfer-Encoding: chunked\r\n\r\n\r\n",
      ok + "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
      ok + "Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n",
    ])
  func malformed(_ text: String) throws {
    let failure = try #require(Self.read([Array(text.utf8)[...]]).failure)
    #expect(!failure.contains("was closed") && !failure.contains("\n"), "\(failure)")
  }

  @Test("heads, interim responses, trailers and chunk lines have limits")
  func limits() throws {
    let long = String(repeating: "x", count: 70_000)
    let interims = String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 5000)
    let chunked = Self.ok + "Transfer-Encoding: chunked\r\n\r\n"
    for text in [long, Self.ok + "A: " + long, interims, chunked + "1;" + long, chunked + "0\r\nA: " + long] {
      let failure = try #require(Self.read([Array(text.utf8)[...]]).failure)
      #expect(failure.contains("too long"), "\(failure)")
    }
  }
}

@Suite struct HTTPRequestHeadTests {
  private func text(
    _ method: String, _ path: String, headers: [String: String] = [:], body: HTTPRequestHead.Body? = nil
  ) throws -> String {
    let head = HTTPRequestHead(method: method, path: path, headers: headers, body: body)
    return String(decoding: try head.bytes(), as: UTF8.self)
  }

  @Test("the head names the body's length and closes the connection")
  func bytes() throws {
    let get = try text("GET", "/v1/jobs?limit=1", headers: ["Accept": "text/event-stream"])
    #expect(get.hasPrefix("GET /v1/jobs?limit=1 HTTP/1.1\r\nHost: transferd\r\n"))
    #expect(get.hasSuffix("\r\nConnection: close\r\nAccept: text/event-stream\r\n\r\n"))
    #expect(!get.contains("Content-Length"))
    #expect(try text("POST", "/v1/jobs:pause").contains("\r\nContent-Length: 0\r\n"))
    #expect(try text("PUT", "/v1/spool/x", body: .length(7)).contains("\r\nContent-Length: 7\r\n"))
  }

  @Test("nothing can add a line to the head", arguments: ["/a b", "/a\r\nX: y", "/a\0", "a", ""])
  func refused(_ path: String) {
    #expect(throws: ControlError.self) { try text("GET", path) }
    #expect(throws: ControlError.self) { try text("GET", "/", headers: ["A": "x\n"]) }
  }
}
