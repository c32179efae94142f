import Dispatch

/// Where calls that wait for a disk are made: not on Swift's own threads, of which there are few.
enum BlockingWork {
  private static let queue = DispatchQueue(label: "transferd-disk", attributes: .concurrent)

  static func run<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
      queue.async { continuation.resume(returning: work()) }
    }
  }
}
