import FoundationEssentials
import Store
import TransferAPI
import TransferEngine
import WireValues

/// Stores an upload's ledger in the job's row, if the attempt's fence is still valid.
struct JobUploadJournal: UploadJournal {
  let store: Store
  let id: JobID
  let fence: Int64
  let reports: AttemptReports

  func record(_ ledger: UploadLedger, acknowledged: Int64) async throws {
    let checkpoint = Checkpoint(
      id: id, fence: fence, bytesDone: acknowledged, bytesTotal: ledger.source.size, resumeData: ledger.encoded())
    guard try await store.checkpoint(checkpoint, at: Date()) else { throw LostClaim(id: id) }
    if ledger.isResumable { await reports.foundResumable(id, fence) }
  }
}
