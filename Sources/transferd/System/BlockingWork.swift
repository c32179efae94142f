import Threads

/// Runs calls that block on the disk. They must not run on the threads of Swift's tasks, which are few.
enum BlockingWork {
  private static let threads = BlockingThreadPool("transferd-disk", maximum: 64)

  static func run<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
    await threads.run(work)
  }
}
