public import FoundationEssentials
import GRDB
public import TransferAPI

/// The moment progress becomes durable: what it says must be on disk before it is stored.
public struct Checkpoint: Equatable, Sendable {
  public var id: JobID
  /// Of the claim under which the job runs.
  public var fence: Int64
  public var bytesDone: Int64
  /// `nil` while unknown.
  public var bytesTotal: Int64?
  /// `nil` keeps what is stored.
  public var resumeData: Data?
  /// The file's path, once the response has named it. `nil` keeps what is stored.
  public var destination: String?
  /// The file that is about to be renamed to the destination; `nil`: none is.
  public var finishing: FileIdentity?

  public init(
    id: JobID, fence: Int64, bytesDone: Int64, bytesTotal: Int64?, resumeData: Data? = nil,
    destination: String? = nil, finishing: FileIdentity? = nil
  ) {
    self.id = id
    self.fence = fence
    self.bytesDone = bytesDone
    self.bytesTotal = bytesTotal
    self.resumeData = resumeData
    self.destination = destination
    self.finishing = finishing
  }
}

extension Store {
  /// Stores the progress of a running job. Leaves no event.
  /// - Returns: `false`, and nothing was changed, where the job is not running under that fence any more.
  /// - Throws: `destinationTaken` where another unfinished job has the name; nothing was changed then.
  public func checkpoint(_ checkpoint: Checkpoint, at now: Date) async throws(StoreError) -> Bool {
    try await queue.run { transaction in try transaction.store(checkpoint) }
  }
}

extension Transaction {
  /// The error goes into the job's row, which its owner may read: only another job of the owner is named there.
  private func claimRunningDestination(_ destination: String, of id: JobID) throws {
    let owner = try db.row("SELECT owner FROM job WHERE id = ?") { bind in
      bind(id.rawValue)
    } read: {
      try $0.uid()
    }
    guard let owner else { throw StoreError.notFound(id) }
    try claimDestination(destination, for: id, in: .owner(owner))
  }

  fileprivate func store(_ checkpoint: Checkpoint) throws -> Bool {
    try db.run(
      """
      UPDATE job SET bytes_done = ?, bytes_total = ?, resume_data = COALESCE(?, resume_data),
        finishing_device = ?, finishing_inode = ?,
        -- What a server has acknowledged is progress: such a job is none that ends daemons.
        crashes = CASE WHEN kind = 'upload' AND bytes_done < ? THEN 0 ELSE crashes END
      WHERE id = ? AND fence = ? AND state = 'running'
      """
    ) { bind in
      bind(checkpoint.bytesDone)
      bind(checkpoint.bytesTotal)
      bind(checkpoint.resumeData)
      bind(checkpoint.finishing.map { Int64(bitPattern: $0.device) })
      bind(checkpoint.finishing.map { Int64(bitPattern: $0.inode) })
      bind(checkpoint.bytesDone)
      bind(checkpoint.id.rawValue)
      bind(checkpoint.fence)
    }
    guard db.changesCount == 1 else { return false }
    if let destination = checkpoint.destination {
      if !destination.hasSuffix("/") { try claimRunningDestination(destination, of: checkpoint.id) }
      try run(
        "UPDATE job SET destination = ?1 WHERE id = ?2 AND destination <> ?1",
        [destination, checkpoint.id.rawValue])
    }
    return true
  }
}
