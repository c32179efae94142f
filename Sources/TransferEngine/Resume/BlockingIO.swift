import Dispatch

/// Where system calls that wait for a disk are made: neither on the transfer loop nor on Swift's own threads.
enum BlockingIO {
  private static let queue = DispatchQueue(label: "transfer-io", attributes: .concurrent)

  static func run<Value: Sendable>(
    _ work: @escaping @Sendable () throws(TransferError) -> Value
  ) async throws(TransferError) -> Value {
    let result = await withCheckedContinuation { continuation in
      queue.async {
        do throws(TransferError) {
          continuation.resume(returning: Result<Value, TransferError>.success(try work()))
        } catch {
          continuation.resume(returning: .failure(error))
        }
      }
    }
    return try result.get()
  }
}

/// Makes directory entries durable, one `fsync` for all who ask meanwhile: a call that begins after a rename covers it.
actor DirectorySync {
  static let shared = DirectorySync()

  private var running: Set<String> = []
  private var waiting: [String: [CheckedContinuation<Result<Void, TransferError>, Never>]] = [:]

  /// Names that were there before the call are on the disk when it returns.
  func synchronize(_ directory: Directory) async throws(TransferError) {
    if running.contains(directory.path) {
      // The running fsync may have begun before our rename: wait for the next one.
      try await withCheckedContinuation { waiting[directory.path, default: []].append($0) }.get()
      return
    }
    running.insert(directory.path)
    let own = await once(directory)
    while let others = waiting.removeValue(forKey: directory.path) {
      let result = await once(directory)
      for other in others { other.resume(returning: result) }
    }
    running.remove(directory.path)
    try own.get()
  }

  private func once(_ directory: Directory) async -> Result<Void, TransferError> {
    do throws(TransferError) {
      try await BlockingIO.run { () throws(TransferError) in try directory.synchronize() }
      return .success(())
    } catch {
      return .failure(error)
    }
  }
}
