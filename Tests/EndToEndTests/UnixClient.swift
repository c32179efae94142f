import Foundation
import Glibc
import TestSupport

/// A plain connection to a Unix socket.
final class UnixClient {
  private var descriptor: Int32

  init(_ path: String) throws { descriptor = try connectedSocket(path) }

  func send(_ text: String) { send(Data(text.utf8)) }

  /// Sends until the daemon closes the connection or stops reading for the given time.
  func send(_ data: Data, patience milliseconds: Int32 = 1000) {
    var rest = data[...]
    while !rest.isEmpty {
      // MSG_NOSIGNAL: the daemon may have closed its end.
      let count = rest.withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
      }
      if count < 0, errno == EAGAIN {
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        guard Glibc.poll(&entry, 1, milliseconds) > 0 else { return }
        continue
      }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }

  /// Receives available bytes; empty if the connection ended or nothing came within the time.
  func receive(within milliseconds: Int32 = 10_000) -> String {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard Glibc.poll(&entry, 1, milliseconds) > 0 else { return "" }
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    let count = read(descriptor, &buffer, buffer.count)
    return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : ""
  }

  /// Ends the sending direction; bytes can still be received.
  func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  func close() {
    if descriptor >= 0 { Glibc.close(descriptor) }
    descriptor = -1
  }

  deinit { close() }
}

extension Daemon {
  /// The number of the daemon's open descriptors.
  var descriptorCount: Int {
    get throws { try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid ?? 0)/fd").count }
  }

  /// The number of the daemon's open sockets.
  var socketCount: Int {
    get throws {
      let directory = "/proc/\(pid ?? 0)/fd"
      return try FileManager.default.contentsOfDirectory(atPath: directory).count { name in
        let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(directory)/\(name)")
        return target?.hasPrefix("socket:") ?? false
      }
    }
  }

  /// The processor time of the daemon in user and kernel mode.
  var computed: Duration {
    get throws {
      // proc_pid_stat(5): the name in parentheses may contain spaces; utime and stime are fields 14 and 15.
      let text = try String(contentsOfFile: "/proc/\(pid ?? 0)/stat", encoding: .utf8)
      let fields = text[(text.lastIndex(of: ")") ?? text.startIndex)...].split(separator: " ")
      let ticks = (Int(fields[12]) ?? 0) + (Int(fields[13]) ?? 0)
      return .milliseconds(ticks * 1000 / sysconf(Int32(_SC_CLK_TCK)))
    }
  }

  /// Suspends until the daemon uses almost no processor time for a second; a daemon that spins never does.
  func waitUntilQuiet(timeout: Duration = .seconds(240)) async throws {
    let deadline = ContinuousClock.now + timeout
    while true {
      let start = try computed
      try await Task.sleep(for: .seconds(1))
      if try computed - start < .milliseconds(100) { return }
      guard .now < deadline else { throw TestSupportError.timedOut("a daemon that has nothing to do", after: timeout) }
    }
  }

  /// Suspends until the daemon has at most this number of descriptors. Only /proc shows it, so this polls.
  func waitForDescriptors(below limit: Int, timeout: Duration = .seconds(120)) async throws {
    let deadline = ContinuousClock.now + timeout
    while try descriptorCount > limit {
      guard .now < deadline else {
        throw TestSupportError.timedOut("\(limit) descriptors, now \(try descriptorCount)", after: timeout)
      }
      try await Task.sleep(for: .milliseconds(10))
    }
  }
}
