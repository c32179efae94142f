import Foundation
import Glibc
import Synchronization

/// A network namespace for programs: a private loopback interface that can be made slow, lossy or silent. Needs root.
///
/// ```swift
/// let network = try await BadNetwork()
/// try await network.limit(bitsPerSecond: 8000)
/// let server = try network.perform { try LoopbackServer(.file(size: 10)) }
/// try daemon.launch(through: network.wrapper)
/// ```
public final class BadNetwork: Sendable {
  public let name: String
  private let ip: String

  /// - Parameter hosts: lines of /etc/hosts for programs that are started through `wrapper`.
  public init(hosts: String? = nil) async throws {
    name = "td\(getpid())-\(UInt32.random(in: 0 ... .max))"
    ip = try BuiltPrograms.system("ip")
    try await Launch(ip, ["netns", "add", name]).runSuccessfully()
    if let hosts {
      try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
      try "127.0.0.1 localhost\n\(hosts)\n".write(toFile: directory + "/hosts", atomically: true, encoding: .utf8)
    }
    // The loopback interface's packets of 64 KiB would pass any limit in one piece.
    try await run("ip", "link", "set", "lo", "mtu", "1500", "up")
  }

  deinit {
    try? FileManager.default.removeItem(atPath: directory)
    let (ip, name) = (ip, name)
    startThread { _ = try? Launch(ip, ["netns", "delete", name]).start() }
  }

  /// ip-netns(8): files in this directory replace those in /etc.
  private var directory: String { "/etc/netns/\(name)" }

  /// The command that executes its arguments in the namespace.
  public var wrapper: [String] { [ip, "netns", "exec", name] }

  /// Runs a system program in the namespace.
  public func run(_ program: String, _ arguments: String...) async throws {
    try await Launch(ip, ["netns", "exec", name, try BuiltPrograms.system(program)] + arguments).runSuccessfully()
  }

  /// Calls `body` on a thread in the namespace: its sockets stay in the namespace.
  public func perform<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) throws -> Value {
    let path = "/var/run/netns/\(name)"
    let result = Mutex<Result<Value, any Error>?>(nil)
    let done = DispatchSemaphore(value: 0)
    startThread {
      let answer = Result<Value, any Error> {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw TestSupportError.system(call: "open \(path)", code: errno) }
        defer { close(descriptor) }
        // CLONE_NEWNET
        try checked("enter \(path)", GNU.setns(descriptor, 0x4000_0000))
        return try body()
      }
      result.withLock { $0 = answer }
      done.signal()
    }
    done.wait()
    guard let answer = result.withLock({ $0 }) else {
      throw TestSupportError.failed(program: "setns", reason: "no answer")
    }
    return try answer.get()
  }

  /// Limits the total rate of all packets (tc-tbf(8)).
  public func limit(bitsPerSecond: Int) async throws {
    try await run(
      "tc", "qdisc", "add", "dev", "lo", "root", "tbf", "rate", "\(bitsPerSecond)bit", "burst", "1600", "latency", "20s"
    )
  }

  /// Drops matching packets silently.
  /// - Parameter rule: an nft(8) expression: `numgen random mod 10 0` is every tenth.
  public func drop(_ rule: String) async throws {
    try await run("nft", "add", "table", "inet", "faults")
    try await run("nft", "add", "chain", "inet", "faults", "input", "{ type filter hook input priority 0; }")
    try await run("nft", "add", "rule", "inet", "faults", "input", "\(rule) drop")
  }

  /// Stops dropping packets.
  public func dropNothing() async throws { try await run("nft", "delete", "table", "inet", "faults") }
}
