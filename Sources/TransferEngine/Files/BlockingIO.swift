import Threads

/// Runs system calls that wait for a disk, outside the transfer loop and Swift's own threads.
enum BlockingIO {
  private static let threads = BlockingThreadPool("transfer-io", maximum: 64)

  static func run<Value: Sendable>(
    _ work: @escaping @Sendable () throws(TransferError) -> Value
  ) async throws(TransferError) -> Value {
    try await threads.run { Result { () throws(TransferError) in try work() } }.get()
  }

  /// The same for work that reports its errors in its value.
  static func value<Value: Sendable>(of work: @escaping @Sendable () -> Value) async -> Value {
    await threads.run(work)
  }
}
