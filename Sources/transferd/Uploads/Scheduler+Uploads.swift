import FoundationEssentials
import Store
import TransferAPI
import TransferEngine

/// What the ends of uploads bring with them.
extension Scheduler {
  /// After the row says how an attempt ended.
  func didSettle(_ settlement: Settlement, _ record: JobRecord) {
    switch settlement.event {
    case .complete, .fail, .cancel: break
    case .claim, .pause, .resume, .retry, .requeue, .postpone: return
    }
    if settlement.event == .complete, record.spec.spool != nil { runner.removePartFile(of: record) }
    if followed.remove(record.job.id) != nil { isWindowStale = true }
    let aftermath = aftermath
    let isNeeded =
      settlement.aftermath.fileAction != nil || settlement.aftermath.wantsHook
      || settlement.event == .cancel && record.job.kind == .upload
    if isNeeded { Task { await aftermath.wake() } }
  }

  /// Jobs were cancelled or removed by a person: others may follow, and servers may hold parts of them.
  func didLeave(_ ids: [JobID]) async {
    let wereFollowed = ids.filter { followed.remove($0) != nil }
    if !wereFollowed.isEmpty { Task { await self.wake() } }
    let aftermath = aftermath
    Task { await aftermath.wake() }
  }

  /// After a restart: who is waited for.
  func readLines() async throws {
    followed = try await store.followed()
  }

  /// Completed uploads whose files could not be deleted or moved, added again by their keys: once more.
  func retryFileActions(of records: [JobRecord]) async {
    let failed = records.filter { $0.job.action?.state == .failed }.map(\.job.id)
    guard !failed.isEmpty else { return }
    do {
      try await store.retryFileActions(of: failed, at: Date())
      let aftermath = aftermath
      Task { await aftermath.wake() }
    } catch {
      logger.warning("cannot try file actions again", metadata: ["error": "\(error)"])
    }
  }
}

extension AttemptResponse {
  /// An attempt that could not even be asked for.
  init(failing error: TransferError, of kind: JobKind) {
    switch kind {
    case .download: self = .download(FileResponse(failing: error))
    case .upload: self = .upload(FileUploadResponse(failing: error))
    }
  }
}
