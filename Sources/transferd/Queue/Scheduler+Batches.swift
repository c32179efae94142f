import FoundationEssentials
import Store
import TransferAPI

/// Limits of batches.
extension Scheduler {
  /// Reads the limits of all batches, at the start.
  func loadBatchLimits() async throws {
    batchLimits = try await store.limitedBatches()
    for (batch, limits) in batchLimits { runner.bandwidth.setLimit(limits.limitRate, of: batch) }
    setLimits(limits)
  }

  /// Changes the limits of a batch, and the priority of its unfinished jobs. Durable when this returns; applies to running
  /// transfers.
  /// - Parameter change: checked by the handler.
  /// - Throws: `StoreError.noSuchBatch`.
  func update(_ batch: BatchID, _ change: BatchChange) async throws {
    var stored = try await store.limits(of: batch)
    if let maxActive = change.maxActive { stored.maxActive = maxActive }
    if let rate = change.limitRate { stored.limitRate = rate }
    if let priority = change.priority { stored.priority = priority }
    try await store.setLimits(stored, of: batch)
    batchLimits[batch] = stored.maxActive == nil && stored.limitRate == nil ? nil : stored
    runner.bandwidth.setLimit(stored.limitRate, of: batch)
    setLimits(limits)
    if case .some(.some(let priority)) = change.priority {
      // Some thousands at a time, so that other changes do not wait for long.
      while try await store.setPriority(priority, of: batch, at: Date()) {}
      send(.priorityChanged(queue.attempts.filter { $0.value.batch == batch }.map(\.key), priority))
    }
    wake()
  }
}
