import FoundationEssentials
import Store
import TransferAPI
import TransferEngine
import WireValues

/// Stores a download's checkpoints in the job's row, if the attempt's fence is still valid.
struct JobJournal: DownloadJournal {
  let store: Store
  let id: JobID
  let fence: Int64
  /// Whether the response names the destination file.
  let isUnnamed: Bool
  let reports: AttemptReports

  func record(_ data: ResumeData) async throws {
    if max(data.totalBytes ?? 0, data.checkpointBytes) > FinishedTransfer.smallFile {
      await reports.foundLarge(id, fence)
    }
    try await save(data, encoded: data.encoded(), finishing: nil)
    if data.servesRanges == true { await reports.foundResumable(id, fence) }
  }

  func willRename(_ data: ResumeData) async throws {
    let isSmall = data.checkpointBytes <= FinishedTransfer.smallFile
    // Another job can use the network slot from here on.
    await reports.transferred([.init(job: id, fence: fence, isLarge: !isSmall)])
    // Small files get no resume data: fetching one again after a crash costs less than storing it for every file.
    try await save(
      data, encoded: isSmall ? nil : data.encoded(), finishing: data.fileToRename.withoutBirth)
  }

  private func save(_ data: ResumeData, encoded: Data?, finishing: FileIdentity?) async throws {
    let checkpoint = Checkpoint(
      id: id, fence: fence, bytesDone: data.checkpointBytes, bytesTotal: data.totalBytes, resumeData: encoded,
      destination: isUnnamed ? data.finalPath : nil, finishing: finishing,
      finishingRecord: finishing == nil ? nil : data.record)
    guard try await store.checkpoint(checkpoint, at: Date()) else { throw LostClaim(id: id) }
  }
}
