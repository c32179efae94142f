import Foundation
import Glibc

extension ChildProcess {
  /// Whether this program listens on a TCP port (proc_pid_net(5)).
  ///
  /// A connection would prove nothing: another program may have taken the port. If nothing listens on an ephemeral port,
  /// a connection to it can even connect to itself.
  func isListening(on port: UInt16) -> Bool {
    let own = Set(
      (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd"))?.compactMap(socketInode) ?? [])
    return ["tcp", "tcp6"].contains { table in
      listeningLines("/proc/\(pid)/net/\(table)").contains { line in
        let fields = line.split(separator: " ")
        // Local address, inode.
        return fields.count > 9 && own.contains(String(fields[9]))
          && fields[1].split(separator: ":").last.flatMap { UInt16($0, radix: 16) } == port
      }
    }
  }

  /// The lines of listening sockets, which the kernel lists first (Documentation/networking/proc_net_tcp.rst).
  ///
  /// The rest is not read: after some hundred tests it has thousands of closed connections, whose lines take a debug build
  /// longer than the server needs to start.
  private func listeningLines(_ path: String) -> [Substring] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return [] }
    defer { close(descriptor) }
    var listening: [Substring] = []
    var rest = ""
    var buffer = [UInt8](repeating: 0, count: 4096)
    while case let count = read(descriptor, &buffer, buffer.count), count > 0 {
      rest += String(decoding: buffer[..<count], as: UTF8.self)
      let lines = rest.split(separator: "\n", omittingEmptySubsequences: false)
      rest = String(lines.last ?? "")
      for line in lines.dropLast() where !line.contains("local_address") {
        // The state 0A is TCP_LISTEN.
        guard line.contains(" 0A ") else { return listening }
        listening.append(line)
      }
    }
    return listening
  }

  /// `socket:[123]` → `123`.
  private func socketInode(_ descriptor: String) -> String? {
    guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pid)/fd/\(descriptor)"),
      target.hasPrefix("socket:["), target.hasSuffix("]")
    else { return nil }
    return String(target.dropFirst(8).dropLast())
  }
}
