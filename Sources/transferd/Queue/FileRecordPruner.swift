import FoundationEssentials
import Logging
import Store
import Threads
import TransferEngine

/// Deletes records of `ifChanged` that are of no use: those that no job has used for 90 days and whose file is gone or is
/// another version. If there are too many, those that were not used for the longest time go too; such a job then compares its
/// file by size and time.
struct FileRecordPruner: Sendable {
  let store: Store
  let logger: Logger
  /// The most records that are kept.
  var maximum = Store.maximumFileRecords
  /// Pause between two steps, so that other work can use the disk.
  var pause = HistoryPruner.pause

  /// - Returns: the number of deleted records.
  @discardableResult
  func prune(now: Date) async -> Int {
    var deleted = 0
    do {
      let limit = now.addingTimeInterval(-Store.fileRecordLifetime)
      var last: StoredFileRecord?
      repeat {
        let page = try await store.unusedFileRecords(since: limit, after: last)
        last = page.last
        let unused = page.unused
        let useless = await BlockingWork.run { unused.filter(Self.isUseless) }
        deleted += try await store.removeFileRecords(useless)
        if last != nil { try? await Task.pause(for: pause) }
      } while last != nil && !Task.isCancelled
      while case let count = try await store.limitFileRecords(to: maximum), count > 0, !Task.isCancelled {
        deleted += count
        try? await Task.pause(for: pause)
      }
    } catch {
      if error != .closed { logger.warning("cannot delete old records of files", metadata: ["error": "\(error)"]) }
    }
    if deleted > 0 { logger.info("old records of files deleted", metadata: ["rows": "\(deleted)"]) }
    return deleted
  }

  /// Whether no job can use the record any more. Blocks.
  private static func isUseless(_ record: StoredFileRecord) -> Bool {
    guard let known = FileRecord(record.record), let found = FileStamp(path: record.path) else { return true }
    return found != known.stamp
  }
}
