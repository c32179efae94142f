import Glibc
import Threads

/// Where system calls that wait for a disk are made: neither on the transfer loop nor on Swift's own threads.
enum BlockingIO {
  private static let threads = BlockingThreads("transfer-io", maximum: 64)

  static func run<Value: Sendable>(
    _ work: @escaping @Sendable () throws(TransferError) -> Value
  ) async throws(TransferError) -> Value {
    try await threads.run { Result { () throws(TransferError) in try work() } }.get()
  }
}

/// Gives finished files their names and makes the names durable: all that come for a directory while it is being
/// synchronized are renamed together, and share the next `fsync`.
actor DirectorySync {
  static let shared = DirectorySync()

  private struct Waiting {
    var rename: @Sendable () throws(TransferError) -> Void
    var continuation: CheckedContinuation<Result<Void, TransferError>, Never>
  }

  /// By the directory itself: one path may lead to several, one after the other.
  private var running: Set<DirectoryIdentity> = []
  private var waiting: [DirectoryIdentity: [Waiting]] = [:]

  /// When it returns, the rename is done and on the disk; when it throws, it was not done, or may not be on the disk.
  func perform(
    in directory: Directory, _ rename: @escaping @Sendable () throws(TransferError) -> Void
  ) async throws(TransferError) {
    let result = await withCheckedContinuation { continuation in
      waiting[directory.identity, default: []].append(Waiting(rename: rename, continuation: continuation))
      guard running.insert(directory.identity).inserted else { return }
      Task { await self.work(directory) }
    }
    try result.get()
  }

  private func work(_ directory: Directory) async {
    while let group = waiting.removeValue(forKey: directory.identity) {
      let renames = group.map(\.rename)
      let results = await Self.renameAndSynchronize(renames, directory)
      for (entry, result) in zip(group, results) { entry.continuation.resume(returning: result) }
    }
    running.remove(directory.identity)
  }

  private static func renameAndSynchronize(
    _ renames: [@Sendable () throws(TransferError) -> Void], _ directory: Directory
  ) async -> [Result<Void, TransferError>] {
    let outcome = try? await BlockingIO.run { () throws(TransferError) -> [Result<Void, TransferError>] in
      let renamed = renames.map { rename in Result { () throws(TransferError) in try rename() } }
      guard renamed.contains(where: { (try? $0.get()) != nil }) else { return renamed }
      let synchronized = Result { () throws(TransferError) in try directory.synchronize() }
      return renamed.map { $0.flatMap { synchronized } }
    }
    // The work above throws nothing; were it to, everybody who waits is still owed an answer.
    return outcome ?? renames.map { _ in .failure(.file(.io("cannot rename in \(directory.path)", errno: EIO))) }
  }
}
