import FoundationEssentials
import Store
import TransferAPI
import TransferEngine

/// Carries an attempt's checkpoints into the job's row, under the fence of its claim.
struct JobJournal: DownloadJournal {
  let store: Store
  let id: JobID
  let fence: Int64
  /// The destination is known only from the response.
  let isUnnamed: Bool
  /// All bytes have arrived: the network slot can serve another job.
  let didFinishTransfer: @Sendable () async -> Void

  private static let smallFile: Int64 = 1 << 20

  func record(_ data: ResumeData) async throws {
    try await keep(data, encoded: data.encoded(), finishing: nil)
  }

  func willRename(_ data: ResumeData) async throws {
    await didFinishTransfer()
    let identity = data.partialFile.identity
    // Fetching a small file once more, should the daemon end here, costs less than writing down for each how to go on.
    let isSmall = data.checkpointBytes <= Self.smallFile
    try await keep(
      data, encoded: isSmall ? nil : data.encoded(), finishing: .init(device: identity.device, inode: identity.inode))
  }

  private func keep(_ data: ResumeData, encoded: Data?, finishing: RowFileIdentity?) async throws {
    let checkpoint = Checkpoint(
      id: id, fence: fence, bytesDone: data.checkpointBytes, bytesTotal: data.totalBytes, resumeData: encoded,
      destination: isUnnamed ? Self.path(data.partialFile) : nil, finishing: finishing)
    guard try await store.checkpoint(checkpoint, at: Date()) else { throw LostClaim(id: id) }
  }

  private static func path(_ file: ResumeData.Location) -> String {
    file.directory == "/" ? "/" + file.finalName : file.directory + "/" + file.finalName
  }
}

/// Somebody else claimed the job meanwhile, or it was ended: this attempt writes no more.
struct LostClaim: Error, CustomStringConvertible {
  let id: JobID
  var description: String { "job \(id) is no longer this attempt's" }
}
