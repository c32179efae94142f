public import FoundationEssentials
public import TransferAPI
public import WireValues

/// Progress of a running job. The bytes must be on disk before the checkpoint is stored.
public struct Checkpoint: Equatable, Sendable {
  public var id: JobID
  /// Of the claim under which the job runs.
  public var fence: Int64
  public var bytesDone: Int64
  /// `nil` while unknown.
  public var bytesTotal: Int64?
  /// `nil` keeps what is stored.
  public var resumeData: Data?
  /// The file's path, after the response has named the file. `nil` keeps what is stored.
  public var destination: String?
  /// The file that is about to be renamed to the destination; `nil`: there is none.
  public var finishing: FileIdentity?
  /// What will be known of that file when it has its name; only with `finishing`.
  public var finishingRecord: Data?

  public init(
    id: JobID, fence: Int64, bytesDone: Int64, bytesTotal: Int64?, resumeData: Data? = nil,
    destination: String? = nil, finishing: FileIdentity? = nil, finishingRecord: Data? = nil
  ) {
    self.id = id
    self.fence = fence
    self.bytesDone = bytesDone
    self.bytesTotal = bytesTotal
    self.resumeData = resumeData
    self.destination = destination
    self.finishing = finishing
    self.finishingRecord = finishingRecord
  }
}
