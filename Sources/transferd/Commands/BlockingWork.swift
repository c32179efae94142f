import Threads

/// Where calls that wait for a disk are made: not on the threads of Swift's tasks, of which there are few.
enum BlockingWork {
  private static let threads = BlockingThreads("transferd-disk", maximum: 64)

  static func run<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
    await threads.run(work)
  }
}
