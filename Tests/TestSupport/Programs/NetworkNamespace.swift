import Foundation
import Glibc
import Synchronization

/// A network namespace with one thread: sockets that are opened on that thread belong to it. Needs root.
public final class NetworkNamespace: Sendable {
  private struct Jobs: Sendable {
    var waiting: [@Sendable () -> Void] = []
    var isEnding = false
  }

  private let jobs = Mutex(Jobs())
  private let wakeup: Wakeup

  /// Creates the namespace. Its only interface is the loopback interface, which is down.
  public init() async throws {
    wakeup = try Wakeup()
    startThread { [weak self, wakeup] in
      while true {
        _ = poll([(wakeup.descriptor, POLLIN)])
        wakeup.clear()
        guard let self, case let next = self.take(), !next.isEnding else { return }
        for job in next.waiting { job() }
      }
    }
    try await run {
      try checked("make a network namespace (are you root?)", GNU.unshare(0x4000_0000))  // CLONE_NEWNET
    }
  }

  deinit {
    jobs.withLock { $0.isEnding = true }
    wakeup.signal()
  }

  private func take() -> Jobs {
    jobs.withLock { jobs in
      defer { jobs.waiting = [] }
      return jobs
    }
  }

  /// Runs `body` on the namespace's thread.
  @discardableResult
  public func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      jobs.withLock { $0.waiting.append { continuation.resume(with: Result(catching: body)) } }
      wakeup.signal()
    }
  }

  /// Runs `ip` with these arguments in the namespace.
  public func ip(_ arguments: String) async throws {
    let launch = Launch(try BuiltPrograms.system("ip"), arguments.split(separator: " ").map(String.init))
    let process = try await run { try ChildProcess(launch) }
    let result = try await process.result()
    guard result.status == 0 else {
      throw TestSupportError.failed(program: "ip \(arguments)", reason: result.stderr)
    }
  }
}
