import Foundation
import NIOCore
import Synchronization
import TestSupport
import Testing

@testable import HTTPServer

@Suite(.timeLimit(.minutes(5))) struct ConversationTests {
  @Test("requests that are sent together are answered one at a time, in their order")
  func pipelining() async throws {
    let inside = Watched((now: 0, most: 0))
    let server = try await Server { request in
      inside.mutate {
        $0.now += 1
        $0.most = max($0.most, $0.now)
      }
      await Task.yield()
      inside.mutate { $0.now -= 1 }
      return try await Server.standard(request)
    }
    let numbers = 0..<1000
    let requests = numbers.map { number in
      number % 3 == 0
        ? String.head("POST /echo", "Content-Length: 5") + "<\(1000 + number)"
        : String.head("GET /<\(1000 + number)")
    }
    let answer = try await server.answer(to: requests.joined() + .head("GET /last", "Connection: close"))
    let found = answer.components(separatedBy: "<").dropFirst().map { String($0.prefix(4)) }
    #expect(found == numbers.map { String(1000 + $0) } && answer.hasSuffix("GET /last\n"))
    #expect(inside.value.most == 1)
  }

  @Test("a client that has closed its half still gets every response")
  func halfClosed() async throws {
    let server = try await Server()
    let requests = [String.head("GET /a"), .head("POST /echo", "Content-Length: 3") + "xyz", .head("GET /stream")]
    let answer = try await server.answer(to: requests.joined(), endingInput: true)
    #expect(answer.statuses == [200, 200, 200] && answer.contains("GET /a\n") && answer.contains("xyz"))
    #expect(answer.hasSuffix("0\r\n\r\n"))
    for cut in ["GET /a HT", .head("POST /echo", "Content-Length: 9") + "xyz"] {
      #expect(try await server.answer(to: cut, endingInput: true).statuses == [400], "\(cut)")
    }
    #expect(try await server.answer(to: "", endingInput: true).isEmpty)
  }

  @Test("100 Continue comes when the body is wanted, before a stream that succeeds, and not before a refusal")
  func expectContinue() async throws {
    let server = try await Server { request in
      if request.target.path == "/refused" { return Response(status: .forbidden) }
      if request.target.path == "/streamed" {
        return Response(
          status: .ok,
          body: .stream { writer in
            for try await piece in request.body { try await writer.write(piece) }
          })
      }
      return try await Server.standard(request)
    }
    func client(_ path: String, _ fields: String = "Content-Length: 3") throws -> SocketClient {
      let client = try server.client()
      client.send(.head("POST \(path)", "Expect: 100-continue", fields))
      return client
    }
    let echo = try client("/echo")
    #expect(try await echo.receive(through: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
    echo.send("abc")
    try await echo.receive(through: "\r\n\r\nabc")
    echo.send(.head("GET /again", "Expect: 100-continue", "Connection: close"))
    #expect(try await echo.receiveAll().statuses == [100, 200, 100, 200])
    let streamed = try client("/streamed", "Connection: close\r\nContent-Length: 3")
    #expect(try await streamed.receive(through: "200 OK").statuses == [100, 200])
    streamed.send("abc")
    #expect(try await streamed.receiveAll().contains("3\r\nabc\r\n0\r\n\r\n"))
    // Nothing says where the body that is not sent would end: the connection cannot be used again.
    let refused = try await client("/refused").receiveAll()
    #expect(refused.statuses == [403] && refused.contains("Connection: close"))
    // A body that is too large is refused before it is sent.
    #expect(try await client("/echo", "Content-Length: 2000000").receiveAll().statuses == [413])
  }

  @Test("HEAD is answered like GET without the body, and the connection can be used again")
  func head() async throws {
    let server = try await Server()
    for path in ["/a", "/stream"] {
      let get = try await server.answer(to: .head("GET \(path)", "Connection: close"))
      let head = try await server.answer(to: .head("HEAD \(path)", "Connection: close"))
      let fields = { (text: String) in text.components(separatedBy: "\r\n\r\n")[0] }
      #expect(fields(get).replacing("Length: 7", with: "Length: 8") == fields(head) && head.hasSuffix("\r\n\r\n"))
      let both = try await server.answer(to: .head("HEAD \(path)") + .head("GET /b", "Connection: close"))
      #expect(both.statuses == [200, 200] && both.hasSuffix("GET /b\n"), "\(both)")
    }
  }

  @Test("HTTP/1.0 gets no chunks, and its connection ends unless it is asked to stay")
  func oldVersion() async throws {
    let server = try await Server()
    let stream = try await server.answer(to: "GET /stream HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
    #expect(stream.hasSuffix("\r\n\r\none\ntwo\n") && !stream.lowercased().contains("chunked"))
    #expect(try await server.answer(to: "GET /a HTTP/1.0\r\n\r\n").hasSuffix("GET /a\n"))
    let kept = try await server.answer(
      to: "GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET /b HTTP/1.0\r\n\r\n")
    #expect(kept.statuses == [200, 200] && kept.contains("Connection: keep-alive"))
  }

  @Test("a connection is closed after a request for another protocol")
  func upgrade() async throws {
    let server = try await Server()
    let answer = try await server.answer(
      to: .head("GET /a", "Connection: Upgrade", "Upgrade: h2c") + .head("GET /b"))
    #expect(answer.statuses == [200] && answer.contains("Connection: close"))
  }

  @Test("a body that the handler does not read is discarded before the next request; a long one ends the connection")
  func unreadBodies() async throws {
    let server = try await Server { _ in Response(status: .notFound) }
    let body = String(repeating: "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n", count: 1000)
    let answer = try await server.answer(
      to: .head("POST /a", "Content-Length: \(body.utf8.count)") + body + .head("GET /b", "Connection: close"))
    #expect(answer.statuses == [404, 404])
    let long = String(repeating: body, count: 60)
    let request = String.head("POST /a", "Content-Length: \(long.utf8.count)") + long
    #expect(try await server.answer(to: request).statuses == [404])
    // The length of a body in chunks is not known: unless it has arrived, the connection ends.
    let chunked = "3\r\nabc\r\n0\r\n\r\n"
    let both = try await server.answer(
      to: .head("POST /a", "Transfer-Encoding: chunked") + chunked + .head("GET /b", "Connection: close"))
    #expect([[404], [404, 404]].contains(both.statuses), "\(both)")
  }

  @Test("no more of a body is taken from the connection than its handler asks for")
  func backPressure() async throws {
    let (isWanted, sizes) = (Gate(), Watched<[Int]>([]))
    let server = try await Server { request in
      try await isWanted.wait()
      for try await piece in request.body { sizes.mutate { $0.append(piece.readableBytes) } }
      return Response(status: .ok)
    }
    let client = try server.client()
    let size = 8 << 20
    client.send(.head("POST /a", "Content-Length: \(size)", "Connection: close"))
    let sent = client.sent.value
    client.send(Data(count: size))
    // Another connection is served meanwhile.
    #expect(!isWanted.isOpen && client.sent.value - sent < size / 2)
    isWanted.open()
    #expect(try await client.receiveAll().statuses == [200])
    #expect(sizes.value.reduce(0, +) == size && sizes.value.max() ?? 0 <= 32 << 10)
  }

  @Test("a writer waits for a client that does not read, and fails when the client is gone; the disconnect is reported")
  func disconnect() async throws {
    let (written, events) = (Watched(0), Watched<[String]>([]))
    let server = try await Server { request in
      Response(
        status: .ok,
        body: .stream { writer in
          request.onDisconnect { events.mutate { $0.append("disconnected") } }
          do {
            while true {
              try await writer.write(ByteBuffer(repeating: 0x78, count: 1 << 16))
              written.mutate { $0 += 1 << 16 }
            }
          } catch {
            events.mutate { $0.append("write failed") }
            throw error
          }
        })
    }
    var client: SocketClient? = try server.client(isReading: false)
    client?.send(.head("GET /endless"))
    try await written.wait(for: "the first pieces") { $0 > 0 ? () : nil }
    client = nil
    let all = try await events.wait(for: "two events") { $0.count == 2 ? $0 : nil }
    #expect(Set(all) == ["disconnected", "write failed"])
    #expect(written.value < 4 << 20)
  }

  @Test("a client that leaves in the middle of its body makes the handler's reading fail")
  func leaving() async throws {
    let failure = Watched<String?>(nil)
    let server = try await Server { request in
      do {
        for try await _ in request.body {}
      } catch {
        failure.mutate { $0 = "\(error)" }
        throw error
      }
      return Response(status: .ok)
    }
    var client: SocketClient? = try server.client()
    client?.send(.head("POST /a", "Content-Length: 1000") + "abc")
    client = nil
    #expect(try await failure.wait(for: "a failure") { $0 } == "\(RequestError.bodyCutOff)")
  }

  @Test("a stream that fails ends the connection without the last chunk")
  func failingStream() async throws {
    struct Broken: Error {}
    let server = try await Server { _ in
      Response(
        status: .ok,
        body: .stream { writer in
          try await writer.write(ByteBuffer(string: "one"))
          throw Broken()
        })
    }
    let answer = try await server.answer(to: .head("GET /a"))
    #expect(answer.contains("one") && !answer.contains("\r\n0\r\n"))
  }

  @Test("a connection beyond the limit of its user gets 503; there is room again when one ends")
  func connectionsPerUser() async throws {
    let server = try await Server(
      limits: .changed {
        $0.privilegedUsers = []
        $0.connectionsPerUser = 3
      })
    var clients = try (0..<3).map { _ in try server.client() }
    for client in clients {
      client.send(.head("GET /a"))
      try await client.receive(through: "GET /a\n")
    }
    let refused = try await server.answer(to: .head("GET /a"))
    #expect(refused.statuses == [503] && refused.contains("this user has 3 connections"), "\(refused)")
    clients.removeLast()
    var statuses: [Int] = []
    while statuses != [200] { statuses = try await server.answer(to: .head("GET /a", "Connection: close")).statuses }
  }

  @Test("connections beyond the limit of all users wait until there is room")
  func connectionLimit() async throws {
    let server = try await Server(limits: .changed { $0.connections = 2 })
    let first = try server.client()
    let second = try server.client()
    for client in [first, second] {
      client.send(.head("GET /a"))
      try await client.receive(through: "GET /a\n")
    }
    let third = try server.client()
    third.send(.head("GET /third", "Connection: close"))
    first.send(.head("GET /again"))
    try await first.receive(through: "GET /again\n")
    #expect(third.heard.value.text.isEmpty)
    first.close()
    #expect(try await third.receiveAll().contains("GET /third\n"))
  }

  @Test("when the server stops, its connections end")
  func stop() async throws {
    let server = try await Server()
    let client = try server.client()
    client.send(.head("GET /a"))
    try await client.receive(through: "GET /a\n")
    try await server.stop()
    #expect(try await client.receiveAll().statuses == [200])
  }

  @Test("an inherited socket is served like one that was bound here")
  func inherited() async throws {
    let directory = try TemporaryDirectory()
    let bound = try ListeningSocket(path: directory.path("s"), group: nil)
    #expect(try FileManager.default.attributesOfItem(atPath: directory.path("s"))[.posixPermissions] as? Int == 0o600)
    let listener = Listener(limits: ServerLimits(connections: 10), refuse: Server.refusal) { request in
      Response(status: .ok, body: .bytes(ByteBuffer(string: "uid \(request.peer.uid ?? 0)\n")))
    }
    let ready = Gate()
    let task = Task { try await listener.run(on: ListeningSocket(inherited: bound.descriptor)) { ready.open() } }
    defer { task.cancel() }
    try await ready.wait()
    let client = try SocketClient(directory.path("s"))
    client.send(.head("GET /", "Connection: close"))
    #expect(try await client.receiveAll().hasSuffix("uid \(geteuid())\n"))
    #expect(throws: ListeningSocket.Failure.self) { try ListeningSocket(path: directory.path("s"), group: nil) }
    #expect(throws: ListeningSocket.Failure.self) {
      try ListeningSocket(path: "/" + String(repeating: "x", count: 107), group: nil)
    }
  }
}
