import FoundationEssentials
import Logging
import Store
import TransferAPI
import TransferEngine

/// Follow-up actions and blocked uploads when jobs end.
extension Scheduler {
  /// Called after the end of an attempt was stored.
  func startFollowUps(_ settlement: Settlement, _ record: JobRecord) {
    switch settlement.event {
    case .complete, .fail, .cancel: break
    case .claim, .pause, .resume, .retry, .requeue, .postpone, .expire: return
    }
    resolveDependencies()
    // The row is durable now. If the daemon crashes before the spooled file is deleted, the next start deletes it.
    if settlement.event == .complete, record.spec.spool != nil {
      if record.spec.relay != nil {
        Task { await removeCopy(of: record) }
      } else {
        let runner = runner
        Task { await runner.removePartFiles(of: [record]) }
      }
    }
    if settlement.event == .cancel, record.spec.relay != nil { Task { await spoolFreed() } }
    if blockingUploads.remove(record.job.id) != nil { wake() }
    let followUpRunner = followUpRunner
    let isNeeded =
      settlement.followUp.fileAction != nil || limits.hooks.wantsFollowUp(after: settlement.event)
      || settlement.event == .cancel && record.spec.transferKind == .upload
    if isNeeded { Task { await followUpRunner.wake() } }
  }

  /// Called after jobs ended without an attempt: cancelled, removed, or past their deadline. Uploads that they blocked may start, and servers may need a cleanup.
  func didWithdraw(_ ids: [JobID]) async {
    resolveDependencies()
    let unblocking = ids.filter { blockingUploads.remove($0) != nil }
    if !unblocking.isEmpty { wake() }
    let followUpRunner = followUpRunner
    Task { await followUpRunner.wake() }
  }

  /// Called at the start: loads the uploads that other uploads wait for.
  func loadBlockingUploads() async throws {
    blockingUploads = try await store.blockers()
  }

  /// Retries failed file actions of completed uploads that were added again with the same key.
  func retryFileActions(of records: [JobRecord]) async {
    let failed = records.filter { $0.job.action?.state == .failed }.map(\.job.id)
    guard !failed.isEmpty else { return }
    do {
      try await store.retryFileActions(of: failed, at: Date())
      let followUpRunner = followUpRunner
      Task { await followUpRunner.wake() }
    } catch {
      logger.warning("cannot retry file actions", metadata: ["error": "\(error)"])
    }
  }
}

extension AttemptResponse {
  /// The response of an attempt whose request could not be created.
  init(failing error: TransferError, of kind: JobKind) {
    switch kind {
    case .download: self = .download(FileResponse(failing: error))
    case .upload: self = .upload(FileUploadResponse(failing: error))
    case .listing: self = .listing(ListingResponse(error: error))
    case .relay: preconditionFailure("a relay transfers as a download or an upload")
    }
  }
}
