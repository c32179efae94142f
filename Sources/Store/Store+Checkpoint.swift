public import FoundationEssentials
import TransferAPI
import WireValues

extension Store {
  /// Stores the progress of a running job. Leaves no event.
  /// - Returns: `false`, without any change, if the job no longer runs under that fence.
  /// - Throws: `destinationTaken`, without any change, if another unfinished job has the name.
  public func checkpoint(_ checkpoint: Checkpoint, at now: Date) async throws(StoreError) -> Bool {
    try await self.checkpoint([checkpoint], at: now).first ?? false
  }

  /// Stores the progress of running jobs, all in one transaction: durable together when this returns. Leaves no events.
  /// - Returns: for each checkpoint, in order, whether it was stored; `false`, without any change, if the job no longer runs
  ///   under that fence.
  /// - Throws: `destinationTaken`, without any change of any job, if another unfinished job has one of the names.
  public func checkpoint(_ checkpoints: [Checkpoint], at now: Date) async throws(StoreError) -> [Bool] {
    guard !checkpoints.isEmpty else { return [] }
    return try await queue.run(weight: checkpoints.count) { transaction in
      try checkpoints.map { checkpoint in try transaction.store(checkpoint) }
    }
  }
}

extension Transaction {
  fileprivate mutating func store(_ checkpoint: Checkpoint) throws -> Bool {
    let found = try row(
      """
      SELECT owner, batch, chooses_name, bytes_done, bytes_total FROM job WHERE id = :id AND fence = :fence AND state = 'running'
      """
    ) { bind in
      bind("id", checkpoint.id)
      bind("fence", checkpoint.fence)
    } read: { row in
      (
        owner: try row.uid("owner"), batch: try row.optionalText("batch"), choosesName: try row.bool("chooses_name"),
        before: StateSums.Share(
          state: .running, bytesDone: try row.int64("bytes_done"), bytesTotal: try row.optionalInt64("bytes_total"))
      )
    }
    guard let job = found else { return false }
    try run(
      """
      UPDATE job SET bytes_done = :bytes_done, bytes_total = :bytes_total,
        resume_data = COALESCE(:resume_data, resume_data),
        finishing_device = :finishing_device, finishing_inode = :finishing_inode, finishing_record = :finishing_record,
        -- Bytes that a server has acknowledged are progress: this job does not end daemons.
        crashes = CASE WHEN (kind = 'upload' OR phase = 'upload') AND bytes_done < :bytes_done THEN 0 ELSE crashes END
      WHERE id = :id
      """
    ) { bind in
      bind("bytes_done", checkpoint.bytesDone)
      bind("bytes_total", checkpoint.bytesTotal)
      bind("resume_data", checkpoint.resumeData)
      bind("finishing_device", checkpoint.finishing.map { Int64(bitPattern: $0.device) })
      bind("finishing_inode", checkpoint.finishing.map { Int64(bitPattern: $0.inode) })
      bind("finishing_record", checkpoint.finishingRecord)
      bind("id", checkpoint.id)
    }
    sums.replace(
      job.before, by: .init(state: .running, bytesDone: checkpoint.bytesDone, bytesTotal: checkpoint.bytesTotal),
      owner: job.owner, batch: job.batch)
    guard let destination = checkpoint.destination else { return true }
    // The error goes into the job's row, which its owner may read: it names only jobs of that owner.
    if !destination.hasTrailingSlash, !job.choosesName {
      try claimDestination(destination, for: checkpoint.id, in: .owner(job.owner))
    }
    try run("UPDATE job SET destination = :destination WHERE id = :id AND destination <> :destination") { bind in
      bind("destination", destination)
      bind("id", checkpoint.id)
    }
    return true
  }
}
