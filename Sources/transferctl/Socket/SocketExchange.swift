import Dispatch
import FoundationEssentials
import Glibc
import Synchronization

/// One request and its response over a Unix socket. The exchange runs on its own thread, which blocks.
///
/// The request is sent while the response arrives: the daemon responds to a long list of jobs line by line. A response
/// whose reader is slow stays in the socket, so that neither direction takes memory that grows with its length.
final class SocketExchange: Sendable {
  typealias Chunks = AsyncThrowingStream<Data, any Error>

  private struct State {
    var isCancelled = false
    /// The open socket; `nil` before and after.
    var descriptor: Int32?
    var status: Result<Int, ControlError>?
    var waiter: CheckedContinuation<Result<Int, ControlError>, Never>?
    /// Pieces of the response that were not taken yet.
    var received: [Data] = []
    var receivedBytes = 0
    var ending: Result<Void, any Error>?
    var reader: CheckedContinuation<Data?, any Error>?
    /// The end of a pipe that wakes the thread when there is room for more; `nil` before it was needed.
    var wake: Int32?
  }

  /// What follows the head of the request.
  enum Body: Sendable {
    case bytes(Data)
    /// Made while they are sent, until the closure returns `nil`.
    case chunks(@Sendable () throws -> Data?)
  }

  /// Bytes of the response that may wait for their reader.
  private static let maximumReceived = 1 << 20

  /// How long to wait, in seconds, for a daemon whose queue of connections is full.
  private static let connectTimeout = 2

  private let path: String
  private let head: [UInt8]
  private let body: Body
  private let state = Mutex(State())

  private init(_ path: String, _ head: [UInt8], _ body: Body) {
    self.path = path
    self.head = head
    self.body = body
  }

  /// Cancels the exchange when the last reference to its response goes.
  private final class Reader: Sendable {
    private let exchange: SocketExchange
    init(_ exchange: SocketExchange) { self.exchange = exchange }
    deinit { exchange.cancel() }
    func next() async throws -> Data? { try await exchange.next() }
  }

  /// Starts an exchange. It is cancelled when `chunks` is released before its end.
  /// - Parameter path: the socket's, at most 107 bytes.
  /// - Parameter head: the request's head.
  /// - Parameter body: the bytes that follow the head.
  /// - Returns: `chunks` is the body of the response, which fails with `ControlError` when it is cut off.
  static func start(
    socket path: String, head: [UInt8], body: Body
  ) -> (exchange: SocketExchange, chunks: Chunks) {
    let exchange = SocketExchange(path, head, body)
    let reader = Reader(exchange)
    DispatchQueue.global(qos: .userInitiated).async { exchange.run() }
    return (exchange, Chunks { try await reader.next() })
  }

  /// The next piece of the response; `nil` at its end, and after `cancel()`.
  private func next() async throws -> Data? {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let (piece, wake) = state.withLock { state -> (Result<Data?, any Error>?, Int32?) in
          if state.isCancelled { return (.success(nil), nil) }
          guard let piece = state.received.first else {
            if let ending = state.ending { return (ending.map { nil }, nil) }
            state.reader = continuation
            return (nil, nil)
          }
          let wasFull = state.receivedBytes > Self.maximumReceived
          state.received.removeFirst()
          state.receivedBytes -= piece.count
          return (.success(piece), wasFull && state.receivedBytes <= Self.maximumReceived ? state.wake : nil)
        }
        if let piece { continuation.resume(with: piece) }
        if let wake { _ = write(wake, "x", 1) }
      }
    } onCancel: {
      cancel()
    }
  }

  /// The response's status, as soon as its head has arrived.
  /// - Throws: `ControlError.unreachable`, also after `cancel()`.
  func status() async throws(ControlError) -> Int {
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { waiter in
        let known = state.withLock { state in
          if state.status == nil { state.waiter = waiter }
          return state.status
        }
        if let known { waiter.resume(returning: known) }
      }
    } onCancel: {
      cancel()
    }
    return try result.get()
  }

  /// Ends the exchange: `status()` fails unless it is known, and `chunks` ends.
  func cancel() {
    let reader = state.withLock { state in
      state.isCancelled = true
      // Wakes the thread; it closes the socket.
      if let descriptor = state.descriptor { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }
      if let wake = state.wake { _ = write(wake, "x", 1) }
      defer { state.reader = nil }
      return state.reader
    }
    reader?.resume(returning: nil)
    settle(.failure(.unreachable("the request was cancelled")))
  }

  // MARK: On the thread

  private func run() {
    do {
      try exchange()
      end(.success(()))
    } catch {
      settle(.failure(error as? ControlError ?? .unreachable("the request was not sent completely")))
      end(.failure(error))
    }
  }

  private func end(_ ending: Result<Void, any Error>) {
    let reader = state.withLock { state in
      state.ending = ending
      defer { state.reader = nil }
      return state.reader
    }
    reader?.resume(with: ending.map { nil })
  }

  private func deliver(_ piece: Data) {
    let reader = state.withLock { state -> CheckedContinuation<Data?, any Error>? in
      guard let reader = state.reader else {
        state.received.append(piece)
        state.receivedBytes += piece.count
        return nil
      }
      state.reader = nil
      return reader
    }
    reader?.resume(returning: piece)
  }

  private func settle(_ status: Result<Int, ControlError>) {
    let waiter = state.withLock { state in
      if state.status == nil { state.status = status }
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume(returning: status)
  }

  private func exchange() throws {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw Self.failure(errno) }
    state.withLock { $0.descriptor = descriptor }
    defer {
      state.withLock { $0.descriptor = nil }
      close(descriptor)
    }
    try connect(descriptor)
    // Until now there was no connection that `cancel()` could shut down.
    guard !state.withLock({ $0.isCancelled }) else { return }
    guard fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0 else { throw Self.failure(errno) }

    var pipe = WakePipe()
    defer {
      state.withLock { $0.wake = nil }
      pipe.close()
    }
    var parser = HTTPResponseParser()
    var output = RequestOutput(head: head, body: body)
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while !parser.isComplete {
      let isFull = try waitForRoom(&pipe)
      let events = try Self.wait(descriptor, toSend: try output.hasMore(), toReceive: !isFull, pipe)
      if events & Int16(POLLOUT) != 0 { try output.send(to: descriptor) }
      if events & Int16(POLLHUP | POLLERR) != 0 { output.stop() }
      guard !isFull, events & Int16(POLLIN | POLLHUP | POLLERR) != 0 else { continue }
      try receive(&parser, from: descriptor, &buffer)
    }
  }

  /// - Returns: whether the reader of the response is slow: the pipe then becomes readable when there is room.
  private func waitForRoom(_ pipe: inout WakePipe) throws(ControlError) -> Bool {
    pipe.drain()
    guard state.withLock({ !$0.isCancelled && $0.receivedBytes > Self.maximumReceived }) else { return false }
    try pipe.open()
    let wake = pipe.input
    return state.withLock { state in
      state.wake = wake
      return !state.isCancelled && state.receivedBytes > Self.maximumReceived
    }
  }

  private func connect(_ descriptor: Int32) throws(ControlError) {
    // connect(2) waits this long for a place in the queue of a Unix socket (socket(7), SO_SNDTIMEO).
    var timeout = timeval(tv_sec: Self.connectTimeout, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let capacity = MemoryLayout.size(ofValue: address.sun_path)
    guard path.utf8.count < capacity else { throw Self.failure(ENAMETOOLONG) }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let code = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard code == 0 else { throw Self.failure(errno) }
  }

  private static func wait(
    _ descriptor: Int32, toSend: Bool, toReceive: Bool, _ pipe: WakePipe
  ) throws(ControlError) -> Int16 {
    // poll(2) ignores negative descriptors. It reports a closed connection whatever is asked for, so a thread that only waits for
    // room does not ask about the socket.
    var items = [
      pollfd(
        fd: toReceive || toSend ? descriptor : -1, events: Int16((toReceive ? POLLIN : 0) | (toSend ? POLLOUT : 0)),
        revents: 0),
      pollfd(fd: toReceive ? -1 : pipe.output, events: Int16(POLLIN), revents: 0),
    ]
    while poll(&items, 2, -1) < 0 {
      guard errno == EINTR else { throw failure(errno) }
    }
    return items[0].revents
  }

  private func receive(
    _ parser: inout HTTPResponseParser, from descriptor: Int32, _ buffer: inout [UInt8]
  ) throws(ControlError) {
    let count = read(descriptor, &buffer, buffer.count)
    guard count >= 0 else {
      guard errno == EAGAIN || errno == EINTR else { throw Self.failure(errno) }
      return
    }
    do {
      guard count > 0 else { return try parser.finish() }
      for element in try parser.push(buffer[..<count]) {
        switch element {
        case .status(let status): settle(.success(status))
        case .body(let bytes): deliver(bytes)
        }
      }
    } catch {
      throw .unreachable("transferd does not answer: \(error)")
    }
  }

  static func failure(_ code: Int32) -> ControlError {
    .unreachable("transferd does not answer: \(String(cString: strerror(code)))")
  }
}
