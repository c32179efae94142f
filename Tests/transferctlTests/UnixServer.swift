import FoundationEssentials
import Glibc

@testable import transferctl

/// A server on a Unix socket in a directory of its own. Each connection runs `serve` on a thread, then is closed.
final class UnixServer: Sendable {
  /// One accepted connection.
  struct Peer: Sendable {
    let descriptor: Int32

    /// Reads until the peer has sent an empty line. Returns what came, which may have a part of the body.
    @discardableResult func readHead() -> String {
      var bytes: [UInt8] = []
      while !String(decoding: bytes, as: UTF8.self).contains("\r\n\r\n") {
        let piece = read(upTo: 4096)
        if piece.isEmpty { break }
        bytes += piece
      }
      return String(decoding: bytes, as: UTF8.self)
    }

    /// At least one byte; empty at the end of the connection.
    func read(upTo length: Int) -> [UInt8] {
      [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
        count = max(0, Glibc.read(descriptor, buffer.baseAddress, length))
      }
    }

    /// Whether all bytes were taken.
    @discardableResult func write(_ text: String) -> Bool {
      var rest = Array(text.utf8)[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        guard count > 0 else { return false }
        rest = rest.dropFirst(count)
      }
      return true
    }
  }

  let path: String
  private let folder: TemporaryFolder
  private let listener: Int32

  /// - Parameter backlog: how many connections may wait to be accepted.
  /// - Parameter serve: runs for each connection, on a thread of its own. `nil`: connections are never accepted.
  init(backlog: Int32 = 16, _ serve: (@Sendable (Peer) -> Void)?) throws {
    folder = try TemporaryFolder()
    path = folder.path + "/sock"
    listener = try Self.listen(path, backlog)
    guard let serve else { return }
    Self.onThread { [listener] in
      while true {
        let descriptor = accept(listener, nil, nil)
        guard descriptor >= 0 else { return }
        Self.onThread {
          serve(Peer(descriptor: descriptor))
          close(descriptor)
        }
      }
    }
  }

  deinit {
    // Ends accept(2).
    shutdown(listener, Int32(SHUT_RDWR))
  }

  private static func listen(_ path: String, _ backlog: Int32) throws -> Int32 {
    let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let isBound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
    guard isBound, Glibc.listen(listener, backlog) == 0 else {
      throw ControlError.unexpected("cannot listen on \(path)")
    }
    return listener
  }

  private static func onThread(_ work: @escaping @Sendable () -> Void) {
    var thread = pthread_t()
    let box = Unmanaged.passRetained(Work(work))
    let code = pthread_create(
      &thread, nil,
      { context in
        if let context { Unmanaged<Work>.fromOpaque(context).takeRetainedValue().run() }
        return nil
      }, box.toOpaque())
    precondition(code == 0)
    pthread_detach(thread)
  }

  private final class Work: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }
}
