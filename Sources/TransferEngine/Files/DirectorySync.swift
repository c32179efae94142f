import Glibc
import Threads

/// Gives finished files their names and makes the names durable. All requests for a directory that arrive during an
/// `fsync` are renamed together and share the next one.
actor DirectorySync {
  static let shared = DirectorySync()

  /// Renames files of one directory; one result for each file. Runs on a thread that may block.
  typealias Work = @Sendable () -> [Result<Void, TransferError>]

  private struct Waiting {
    var rename: Work
    var continuation: CheckedContinuation<[Result<Void, TransferError>], Never>
  }

  /// Identified by the directory itself: one path may lead to several directories over time.
  private var running: Set<DirectoryIdentity> = []
  private var waiting: [DirectoryIdentity: [Waiting]] = [:]

  /// After it returns, the rename is done and durable. If it throws, the rename was not done, or may not be durable.
  func perform(
    in directory: Directory, _ rename: @escaping @Sendable () throws(TransferError) -> Void
  ) async throws(TransferError) {
    let results = await perform(in: directory, all: { [Result { () throws(TransferError) in try rename() }] })
    try results[0].get()
  }

  /// The same for several files of one directory. A failed sync is the result of every file that was renamed.
  func perform(in directory: Directory, all renames: @escaping Work) async -> [Result<Void, TransferError>] {
    await withCheckedContinuation { continuation in
      waiting[directory.identity, default: []].append(Waiting(rename: renames, continuation: continuation))
      guard running.insert(directory.identity).inserted else { return }
      Task { await self.work(directory) }
    }
  }

  private func work(_ directory: Directory) async {
    while let group = waiting.removeValue(forKey: directory.identity) {
      let renames = group.map(\.rename)
      let results = await BlockingIO.value { Self.renameAndSynchronize(renames, directory) }
      for (entry, results) in zip(group, results) { entry.continuation.resume(returning: results) }
    }
    running.remove(directory.identity)
  }

  private static func renameAndSynchronize(
    _ renames: [Work], _ directory: Directory
  ) -> [[Result<Void, TransferError>]] {
    let renamed = renames.map { $0() }
    guard renamed.joined().contains(where: { (try? $0.get()) != nil }) else { return renamed }
    let synchronized = Result { () throws(TransferError) in try directory.synchronize() }
    return renamed.map { $0.map { $0.flatMap { synchronized } } }
  }
}
