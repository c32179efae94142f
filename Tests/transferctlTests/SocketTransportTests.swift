import Dispatch
import FoundationEssentials
import Synchronization
import Testing

@testable import transferctl

@Suite(.timeLimit(.minutes(2))) struct SocketTransportTests {
  @Test("a request arrives whole, and its response is read")
  func exchange() async throws {
    let seen = Mutex("")
    let server = try UnixServer { peer in
      var request = peer.readHead()
      while !request.hasSuffix("body") { request += String(decoding: peer.read(upTo: 100), as: UTF8.self) }
      seen.withLock { $0 = request }
      peer.write("HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok")
    }
    let (status, body) = try await SocketTransport(socket: server.path)
      .send("POST", "/v1/jobs", body: Data("the body".utf8), contentType: "application/json")
    #expect(status == 201 && body == Data("ok".utf8))
    let request = seen.withLock { $0 }
    #expect(request.hasPrefix("POST /v1/jobs HTTP/1.1\r\n"))
    #expect(request.contains("\r\nContent-Type: application/json\r\n"))
  }

  @Test("the response is read while the request is still being sent")
  func duplex() async throws {
    let size = 8 << 20
    let server = try UnixServer { peer in
      // The first bytes of the body may come with the head.
      let head = peer.readHead()
      peer.write("HTTP/1.1 200 OK\r\n\r\n" + String(repeating: "x", count: Self.bodyCount(head)))
      // More than a socket holds in both directions: neither side can wait until the other has finished.
      var received = Self.bodyCount(head)
      while received < size {
        let piece = peer.read(upTo: 65536)
        if piece.isEmpty { return }
        received += piece.count
        if !peer.write(String(repeating: "x", count: piece.count)) { return }
      }
    }
    let (status, body) = try await SocketTransport(socket: server.path)
      .send("POST", "/", body: Data(count: size), contentType: nil)
    #expect(status == 200 && body.count == size)
  }

  /// How many bytes follow the head.
  private static func bodyCount(_ request: String) -> Int {
    request.firstRange(of: "\r\n\r\n").map { request[$0.upperBound...].utf8.count } ?? 0
  }

  @Test("a response to a request that the daemon does not read counts")
  func early() async throws {
    let server = try UnixServer { peer in
      peer.readHead()
      peer.write("HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nbig")
    }
    let (status, body) = try await SocketTransport(socket: server.path)
      .send("POST", "/", body: Data(count: 8 << 20), contentType: nil)
    #expect(status == 413 && body == Data("big".utf8))
  }

  @Test(
    "without a daemon, or with half a response, the daemon is unreachable",
    arguments: ["", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", "220 mail.example.org ESMTP\r\n"])
  func unreachable(_ response: String) async throws {
    let server = try UnixServer { peer in
      peer.readHead()
      peer.write(response)
    }
    for socket in [server.path, server.path + "-none", "/" + String(repeating: "x", count: 200)] {
      let error = await #expect(throws: ControlError.self) {
        try await SocketTransport(socket: socket).send("GET", "/", body: nil, contentType: nil)
      }
      guard case .unreachable(let words)? = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
      #expect(words.hasPrefix("transferd does not answer: "))
    }
  }

  @Test("a stream delivers what has arrived, and fails when it is cut off")
  func stream() async throws {
    // The second chunk is sent when the first has been read.
    let isFirstRead = DispatchSemaphore(value: 0)
    let server = try UnixServer { peer in
      peer.readHead()
      peer.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n")
      isFirstRead.wait()
      peer.write("3\r\ntwo\r\n")
    }
    let (status, chunks) = try await SocketTransport(socket: server.path)
      .stream("GET", "/v1/events", body: nil, contentType: nil, headers: ["Accept": "text/event-stream"])
    #expect(status == 200)
    var iterator = chunks.makeAsyncIterator()
    #expect(try await iterator.next() == Data("one".utf8))
    isFirstRead.signal()
    #expect(try await iterator.next() == Data("two".utf8))
    await #expect(throws: ControlError.self) { try await iterator.next() }
  }

  @Test("a stream that is released, and a task that is cancelled, close the connection")
  func cancelled() async throws {
    let (closed, sawClose) = AsyncStream<Void>.makeStream()
    let server = try UnixServer { peer in
      let head = peer.readHead()
      if head.hasPrefix("GET /stream") { peer.write("HTTP/1.1 200 OK\r\n\r\nfirst") }
      while !peer.read(upTo: 100).isEmpty {}
      sawClose.yield()
    }
    let transport = SocketTransport(socket: server.path)
    var closes = closed.makeAsyncIterator()
    do {
      let (_, chunks) = try await transport.stream("GET", "/stream", body: nil, contentType: nil, headers: [:])
      for try await chunk in chunks where chunk == Data("first".utf8) { break }
    }
    #expect(await closes.next() != nil)

    let task = Task { try await transport.send("GET", "/silent", body: nil, contentType: nil) }
    task.cancel()
    await #expect(throws: ControlError.self) { try await task.value }
    let reading = Task {
      let (_, chunks) = try await transport.stream("GET", "/stream", body: nil, contentType: nil, headers: [:])
      for try await _ in chunks { withUnsafeCurrentTask { $0?.cancel() } }
    }
    try await reading.value
    #expect(await closes.next() != nil)
  }
}
