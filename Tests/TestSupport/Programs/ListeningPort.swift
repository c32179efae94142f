import Foundation

extension ChildProcess {
  /// Whether this program listens on a TCP port (proc_pid_net(5)).
  ///
  /// A connection would prove nothing: another program may have taken the port. If nothing listens on an ephemeral port,
  /// a connection to it can even connect to itself.
  func isListening(on port: UInt16) -> Bool {
    let own = Set(
      (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd"))?.compactMap(socketInode) ?? [])
    return ["tcp", "tcp6"].contains { table in
      let text = (try? procText("/proc/\(pid)/net/\(table)")) ?? ""
      return text.split(separator: "\n").dropFirst().contains { line in
        let fields = line.split(separator: " ")
        // Local address, state 0A (TCP_LISTEN), inode.
        return fields.count > 9 && fields[3] == "0A" && own.contains(String(fields[9]))
          && fields[1].split(separator: ":").last.flatMap { UInt16($0, radix: 16) } == port
      }
    }
  }

  /// `socket:[123]` → `123`.
  private func socketInode(_ descriptor: String) -> String? {
    guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pid)/fd/\(descriptor)"),
      target.hasPrefix("socket:["), target.hasSuffix("]")
    else { return nil }
    return String(target.dropFirst(8).dropLast())
  }
}
