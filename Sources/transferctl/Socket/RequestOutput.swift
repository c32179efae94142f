import FoundationEssentials
import Glibc

/// The bytes of a request that were not sent yet.
struct RequestOutput {
  private var pieces: ArraySlice<Data>
  /// Makes the next piece of a body in chunks; `nil` after the last one.
  private var next: (@Sendable () throws -> Data?)?

  init(head: [UInt8], body: SocketExchange.Body) {
    switch body {
    case .bytes(let bytes): pieces = [Data(head), bytes].filter { !$0.isEmpty }[...]
    case .chunks(let next):
      pieces = [Data(head)]
      self.next = next
    }
  }

  /// Whether there is something to send. Makes the next chunk if all others were sent.
  /// - Throws: the error of the closure that makes the body.
  mutating func hasMore() throws -> Bool {
    while pieces.isEmpty, let next {
      guard let piece = try next() else {
        pieces = [Data("0\r\n\r\n".utf8)]
        self.next = nil
        break
      }
      // A chunk of length 0 would end the body (RFC 9112 §7.1).
      if !piece.isEmpty { pieces = [Data((String(piece.count, radix: 16) + "\r\n").utf8) + piece + Data("\r\n".utf8)] }
    }
    return !pieces.isEmpty
  }

  /// Sends nothing more.
  mutating func stop() {
    pieces = []
    next = nil
  }

  /// Sends as much as the socket takes now.
  mutating func send(to descriptor: Int32) throws(ControlError) {
    guard let piece = pieces.first else { return }
    let count = piece.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    switch (count, errno) {
    case (0..., _):
      pieces[pieces.startIndex] = piece.dropFirst(count)
      if piece.count == count { pieces.removeFirst() }
    case (_, EAGAIN), (_, EINTR): break
    // The daemon reads no further, but its response may have arrived.
    case (_, EPIPE), (_, ECONNRESET): stop()
    default: throw SocketExchange.failure(errno)
    }
  }
}
