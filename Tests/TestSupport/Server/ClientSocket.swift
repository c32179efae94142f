import Foundation
import Glibc
import Synchronization

/// The server's end of one connection. Its blocking calls end when the server stops or the client disconnects.
///
/// It is used by one thread; only `shutDown()` may be called by another.
final class ClientSocket: @unchecked Sendable {  // `received` and the pace belong to the connection's thread
  /// The client, or the server's stop, has ended the connection.
  struct Gone: Error {}

  /// POLLRDHUP, poll(2): the client has closed its end.
  private static let peerClosed: Int32 = 0x2000

  let descriptor: Int32
  private let wakeup: Wakeup
  private let isClosed = Mutex(false)
  private var received = Data()
  private(set) var bytesPerSecond: Int?

  init(_ descriptor: Int32) throws {
    self.descriptor = descriptor
    wakeup = try Wakeup()
    var on: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, 4)
  }

  /// Reads up to and with the empty line that ends a request's head; `nil` at the end of the connection.
  func readHead(limit: Int = 1 << 20) throws -> String? {
    let end = Data("\r\n\r\n".utf8)
    while true {
      if let found = received.range(of: end) {
        let head = String(decoding: received[..<found.lowerBound], as: UTF8.self)
        received = Data(received[found.upperBound...])
        return head
      }
      guard received.count < limit else { throw Gone() }
      guard try readMore() else { return nil }
    }
  }

  /// Reads one line without its end.
  func readLine() throws -> String {
    while true {
      if let newline = received.firstIndex(of: 10) {
        let line = String(decoding: received[..<newline], as: UTF8.self)
        received = Data(received[(newline + 1)...])
        return line.hasSuffix("\r") ? String(line.dropLast()) : line
      }
      guard try readMore() else { throw Gone() }
    }
  }

  /// Reads at least one and at most `limit` bytes.
  func read(upTo limit: Int64) throws -> Data {
    if received.isEmpty, try !readMore() { throw Gone() }
    let piece = Data(received.prefix(Int(clamping: limit)))
    received = Data(received.dropFirst(piece.count))
    return piece
  }

  private func readMore() throws -> Bool {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else { throw Gone() }
      received.append(contentsOf: buffer[..<count])
      return count > 0
    }
  }

  func drip(bytesPerSecond: Int) { self.bytesPerSecond = max(1, bytesPerSecond) }

  /// Writes all bytes at the rate of `drip`, and reports each piece that was written.
  func write(_ data: Data, wrote: (Int) -> Void = { _ in }) throws {
    guard let bytesPerSecond else { return try writeAtOnce(data, wrote: wrote) }
    let slice = max(1, bytesPerSecond / 20)
    var rest = data[...]
    while !rest.isEmpty {
      let piece = rest.prefix(slice)
      try writeAtOnce(piece, wrote: wrote)
      rest = rest.dropFirst(slice)
      try pause(milliseconds: Int32(clamping: piece.count * 1000 / bytesPerSecond))
    }
  }

  private func writeAtOnce(_ data: Data, wrote: (Int) -> Void) throws {
    try data.withUnsafeBytes { bytes in
      var sent = 0
      while sent < bytes.count {
        let count = send(
          descriptor, bytes.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
        if count < 0 && errno == EINTR { continue }
        guard count > 0 else { throw Gone() }
        sent += count
        wrote(count)
      }
    }
  }

  /// Blocks until the gate opens.
  func wait(for gate: Gate) throws {
    let observer = gate.opened.observe { [wakeup] isOpen in
      if isOpen { wakeup.signal() }
      return isOpen
    }
    defer {
      gate.opened.forget(observer)
      wakeup.clear()
    }
    try pause(milliseconds: -1)
  }

  /// Blocks for a time, or for ever, until it is woken.
  private func pause(milliseconds: Int32) throws {
    let events = poll(
      [(descriptor, Self.peerClosed), (wakeup.descriptor, POLLIN)], milliseconds: milliseconds)
    if events[0] != 0 { throw Gone() }
  }

  /// Shuts down both directions, so that the thread of the socket leaves its blocking call.
  func shutDown() {
    isClosed.withLock { if !$0 { _ = shutdown(descriptor, Int32(SHUT_RDWR)) } }
  }

  private func close() {
    isClosed.withLock { isClosed in
      if !isClosed { _ = Glibc.close(descriptor) }
      isClosed = true
    }
  }

  /// Sends FIN, waits until the client has received everything, and closes.
  ///
  /// Closing with unread bytes of a request would send RST and destroy the response in transit.
  func finish() {
    shutdown(descriptor, Int32(SHUT_WR))
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    for _ in 0..<1024 where poll([(descriptor, POLLIN)], milliseconds: 2000)[0] != 0 {
      guard recv(descriptor, &buffer, buffer.count, 0) > 0 else { break }
    }
    close()
  }

  /// Closes with RST (`SO_LINGER` 0, socket(7)) after the client's side has acknowledged all bytes.
  func reset() {
    for _ in 0..<2000 where unsentBytes > 0 { usleep(1000) }
    var linger = Glibc.linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
    close()
  }

  /// Bytes written that the other side has not acknowledged (SIOCOUTQ, tcp(7)).
  private var unsentBytes: Int32 {
    var count: Int32 = 0
    return ioctl(descriptor, UInt(TIOCOUTQ), &count) == 0 ? count : 0
  }
}
