import Foundation
import Glibc

/// A descriptor that is connected to a Unix socket. Waits while the socket's queue is full.
public func connectedSocket(_ path: String) throws -> Int32 {
  let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
  guard withUnixAddress(path, { connect(descriptor, $0, $1) }) == 0 else {
    let reason = errno
    close(descriptor)
    throw TestSupportError.system(call: "connect to \(path)", code: reason)
  }
  return descriptor
}

/// A connection to a Unix socket whose bytes are sent and received by threads of their own, so that a test in the server's own
/// process blocks none of Swift's threads.
public final class SocketClient: Sendable {
  public struct Heard: Sendable {
    public var text = ""
    /// The other end has sent its last byte.
    public var isAtEnd = false
  }

  /// All that was received.
  public let heard = Watched(Heard())
  /// The bytes that the kernel has taken.
  public let sent = Watched(0)
  private let descriptor: Int32
  private let isReading: Bool

  /// - Parameter isReading: false for a client that never reads.
  public init(_ path: String, isReading: Bool = true) throws {
    self.isReading = isReading
    descriptor = try connectedSocket(path)
    guard isReading else { return }
    // The thread has a descriptor of its own, which ends with the connection.
    let (reader, heard) = (fcntl(descriptor, F_DUPFD_CLOEXEC, 0), heard)
    startThread {
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      while case let count = read(reader, &buffer, buffer.count), count > 0 {
        let text = String(decoding: buffer[..<count], as: UTF8.self)
        heard.mutate { $0.text += text }
      }
      Glibc.close(reader)
      heard.mutate { $0.isAtEnd = true }
    }
  }

  deinit {
    shutdown(descriptor, Int32(SHUT_RDWR))
    Glibc.close(descriptor)
  }

  public func send(_ text: String) { send(Data(text.utf8)) }

  /// Returns at once; ``sent`` grows as the kernel takes the bytes. One call after the other.
  public func send(_ data: Data) {
    let (writer, sent) = (fcntl(descriptor, F_DUPFD_CLOEXEC, 0), sent)
    let write: @Sendable () -> Void = {
      var rest = data[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { Glibc.send(writer, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        guard count > 0 else { break }
        rest = rest.dropFirst(count)
        sent.mutate { $0 += count }
      }
      Glibc.close(writer)
    }
    if data.count <= 1 << 16 { write() } else { startThread(write) }
  }

  /// Nothing more will be sent; what comes is still received.
  public func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// Ends the connection in both directions.
  public func close() { shutdown(descriptor, Int32(SHUT_RDWR)) }

  /// Suspends until the text was received, and returns all that was.
  @discardableResult
  public func receive(through text: String, timeout: Duration = .seconds(120)) async throws -> String {
    try await heard.wait(for: "\"\(text)\"", timeout: timeout) { $0.text.contains(text) ? $0.text : nil }
  }

  /// Suspends until the other end has sent its last byte, and returns all that was received.
  public func receiveAll(timeout: Duration = .seconds(120)) async throws -> String {
    try await heard.wait(for: "the end of the connection", timeout: timeout) { $0.isAtEnd ? $0.text : nil }
  }
}
