import Foundation
import Glibc

/// The manager's end of `NOTIFY_SOCKET`, which receives a service's messages (sd_notify(3)).
final class NotifySocket: Sendable {
  let path: String
  /// The received assignments in order: `READY=1`, `STATUS=…`.
  let heard = Watched<[String]>([])
  private let wakeup: Wakeup

  init(path: String) throws {
    self.path = path
    wakeup = try Wakeup()
    let kind = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue)
    let descriptor = try checked("make a socket", socket(AF_UNIX, kind, 0))
    try checked("bind \(path)", withUnixAddress(path) { bind(descriptor, $0, $1) })
    // A daemon that runs as another user writes here too.
    chmod(path, 0o666)
    startThread { [heard, wakeup] in
      var buffer = [UInt8](repeating: 0, count: 4096)
      while poll([(wakeup.descriptor, POLLIN), (descriptor, POLLIN)])[0] == 0 {
        let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        guard count > 0 else { continue }
        let lines = String(decoding: buffer[..<count], as: UTF8.self).split(separator: "\n").map(String.init)
        heard.mutate { $0 += lines }
      }
      close(descriptor)
    }
  }

  deinit { wakeup.signal() }
}

/// Whether a process listens on a Unix socket.
public func isListening(onUnixSocket path: String) -> Bool {
  let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
  let descriptor = socket(AF_UNIX, kind, 0)
  guard descriptor >= 0 else { return false }
  defer { close(descriptor) }
  return withUnixAddress(path) { connect(descriptor, $0, $1) } == 0
}

/// Calls a function with the address of a Unix socket; the path must fit `sun_path`.
func withUnixAddress<Result>(
  _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
) -> Result {
  var address = sockaddr_un()
  address.sun_family = sa_family_t(AF_UNIX)
  let bytes = path.utf8CString
  precondition(bytes.count <= MemoryLayout.size(ofValue: address.sun_path), "too long for a socket: \(path)")
  withUnsafeMutableBytes(of: &address.sun_path) { room in
    bytes.withUnsafeBytes { room.copyMemory(from: $0) }
  }
  return withUnsafePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
    }
  }
}
