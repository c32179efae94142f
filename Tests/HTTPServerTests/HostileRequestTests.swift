import Foundation
import NIOCore
import TestSupport
import Testing

@testable import HTTPServer

/// What is no request, asks too much, or could be read as two different requests.
@Suite(.timeLimit(.minutes(5))) struct HostileRequestTests {
  private static let post = "POST /echo HTTP/1.1\r\nHost: x\r\n"
  private static let chunked = post + "Transfer-Encoding: chunked\r\n\r\n"

  static let table: [(String, Int)] = [
    // The head.
    ("\u{0}\u{1}\u{2}\n\r\n\r\n", 400), ("no request\r\n\r\n", 400), ("FROB / HTTP/1.1\r\nHost: x\r\n\r\n", 400),
    ("GET / HTTP/9.9\r\nHost: x\r\n\r\n", 505), ("GET / HTTP/2.0\r\nHost: x\r\n\r\n", 505),
    ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400), ("GET / HTTP/1.1\nHost: x\n\n", 505),
    ("GET / HTTP/1.1\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n", 400),
    ("GET /\u{0} HTTP/1.1\r\nHost: x\r\n\r\n", 400), ("GET /\u{1} HTTP/1.1\r\nHost: x\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: x\r\nX: a\u{0}b\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: x\r\nX: a\rb\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: x\r\nX : a\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: x\r\n: a\r\n\r\n", 400),
    // obs-fold, RFC 9112 §5.2
    ("GET / HTTP/1.1\r\nHost: x\r\nX: a\r\n b\r\n\r\n", 400),
    // Sizes.
    ("GET /\(String(repeating: "a", count: 8192)) HTTP/1.1\r\nHost: x\r\n\r\n", 414),
    ("GET /\(String(repeating: "a", count: 16_000)) HTTP/1.1\r\nHost: x\r\n\r\n", 414),
    ("GET /\(String(repeating: "a", count: 1 << 20))", 414),
    ("GET / HTTP/1.1\r\nHost: x\r\nX: \(String(repeating: "a", count: 16 << 10))\r\n\r\n", 431),
    ("GET / HTTP/1.1\r\nHost: x\r\nX: \(String(repeating: "a", count: 1 << 20))", 431),
    ("GET / HTTP/1.1\r\nHost: x\r\n\(String(repeating: "X: a\r\n", count: 100))\r\n", 431),
    ("GET / HTTP/1.1\r\nHost: x\r\n\(String(repeating: "X: a\r\n", count: 100_000))\r\n", 431),
    // Lengths.
    (post + "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", 400),
    (post + "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc", 400),
    (post + "Content-Length: 3, 3\r\n\r\nabc", 400), (post + "Content-Length: +3\r\n\r\nabc", 400),
    (post + "Content-Length: -3\r\n\r\nabc", 400), (post + "Content-Length: 0x3\r\n\r\nabc", 400),
    (post + "Content-Length: 9223372036854775807\r\n\r\nabc", 413),
    (post + "Content-Length: 9223372036854775808\r\n\r\nabc", 400),
    (post + "Content-Length: 99999999999999999999999999\r\n\r\nabc", 400),
    (post + "Content-Length: 3000000\r\n\r\n\(String(repeating: "x", count: 3_000_000))", 413),
    // Framing that two programs may read differently.
    (post + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    (post + "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n", 400),
    (post + "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n", 400),
    (post + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 400),
    (post + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 400),
    (post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    ("POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    // Chunks.
    (chunked + "zz\r\n\r\n", 400), (chunked + "-1\r\na\r\n0\r\n\r\n", 400), (chunked + "0x1\r\na\r\n0\r\n\r\n", 400),
    (chunked + "FFFFFFFFFFFFFFFFF\r\n", 400), (chunked + "3\r\nabcX\r\n0\r\n\r\n", 400),
    (chunked + "3\nabc\r\n0\r\n\r\n", 400),
    (chunked + "3;\(String(repeating: "a", count: 40_000))\r\nabc\r\n0\r\n\r\n", 400),
    (chunked + "3\r\nabc\r\n0\r\n\(String(repeating: "X: y\r\n", count: 20_000))\r\n", 431),
    (chunked + "200000\r\n\(String(repeating: "x", count: 0x200000))\r\n0\r\n\r\n", 413),
  ]

  @Test("each is refused with its status, and the connection ends")
  func refusals() async throws {
    let server = try await Server()
    for (text, status) in Self.table {
      let answer = try await server.answer(to: text)
      #expect(answer.statuses == [status], "\(text.prefix(120).debugDescription): \(answer)")
      #expect(answer.lowercased().contains("\r\nconnection: close\r\n"), "\(text.prefix(120).debugDescription)")
    }
  }

  @Test("the first request of a connection is answered although garbage follows; then the connection ends")
  func garbageBehind() async throws {
    let server = try await Server()
    let answer = try await server.answer(to: .head("GET /a") + "\u{0}\u{1}\r\n\r\n" + .head("GET /b"))
    #expect(answer.statuses == [200, 400] && answer.contains("GET /a\n") && !answer.contains("GET /b\n"), "\(answer)")
  }

  @Test("a head just within the limits is accepted, however it is cut")
  func limits() async throws {
    let server = try await Server()
    let head = String.head(
      "GET /" + String(repeating: "a", count: 8000), "X: \(String(repeating: "b", count: 8000))",
      "Connection: close")
    #expect(try await server.answer(to: head).statuses == [200])
    let client = try server.client()
    for byte in String.head("GET /slowly", "Connection: close").utf8 { client.send(Data([byte])) }
    #expect(try await client.receiveAll().contains("GET /slowly\n"))
  }

  @Test("a head or a body that is not complete in time is answered with 408; a connection without a request is closed")
  func slowLoris() async throws {
    let server = try await Server(
      limits: .changed {
        $0.headTimeout = .milliseconds(100)
        $0.idleTimeout = .milliseconds(300)
        $0.bodyTimeout = .milliseconds(200)
      })
    #expect(try await server.answer(to: "GET /slow HTTP/1.1\r\nHost").statuses == [408])
    #expect(try await server.answer(to: .head("POST /echo", "Content-Length: 10") + "abc").statuses == [408])
    let chunked = String.head("POST /echo", "Transfer-Encoding: chunked") + "3\r\nab"
    #expect(try await server.answer(to: chunked).statuses == [408])
    #expect(try await server.answer(to: "").isEmpty)
    // A request that is complete has all the time that its handler takes, and the connection is idle only after it.
    #expect(try await server.answer(to: .head("GET /a")).statuses == [200])
  }
}
