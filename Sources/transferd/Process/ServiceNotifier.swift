import Glibc
import WireValues

/// Sends the daemon's state to systemd (sd_notify(3)). Without `$NOTIFY_SOCKET` it does nothing.
struct ServiceNotifier: Sendable {
  private let path: String?
  /// Half of systemd's watchdog interval; `nil` without a watchdog.
  let watchdogInterval: Duration?

  init(environment: [String: String]) {
    path = environment["NOTIFY_SOCKET"].flatMap { $0.isAbsolutePath || $0.hasPrefix("@") ? $0 : nil }
    let isForUs = environment["WATCHDOG_PID"].map { $0 == "\(getpid())" } ?? true
    watchdogInterval =
      isForUs ? environment["WATCHDOG_USEC"].flatMap { Int64($0) }.map { .microseconds(max(1000, $0 / 2)) } : nil
  }

  var isActive: Bool { path != nil }

  /// - Parameter state: lines like `READY=1` and `STATUS=…`.
  func send(_ state: String) {
    guard let path else { return }
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
    withUnsafeMutableBytes(of: &address.sun_path) { buffer in
      buffer.copyBytes(from: bytes)
      // The name of an abstract socket begins with NUL; systemd writes "@" instead.
      if bytes[0] == UInt8(ascii: "@") { buffer[0] = 0 }
    }
    let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
    _ = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        state.withCString { sendto(descriptor, $0, strlen($0), Int32(MSG_NOSIGNAL), address, length) }
      }
    }
  }
}
