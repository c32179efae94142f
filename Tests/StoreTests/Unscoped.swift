import Foundation
import TransferAPI

@testable import Store

/// Calls for tests without owners: their scope is everything, and batches belong to the fixture's owner.
extension Store {
  func job(_ id: JobID) async throws(StoreError) -> JobRecord? { try await job(id, in: .everything) }
  func records(_ ids: [JobID]) async throws(StoreError) -> [JobRecord] { try await records(ids, in: .everything) }
  func detail(_ id: JobID) async throws(StoreError) -> (record: JobRecord, attempts: [Attempt])? {
    try await detail(id, in: .everything)
  }
  func counts() async throws(StoreError) -> StateCounts { try await counts(in: .everything) }
  func batches() async throws(StoreError) -> [Batch] { try await batches(in: .everything) }
  func lastEvent() async throws(StoreError) -> Int64 { try await lastEvent(in: .everything) }

  func batch(_ name: String) async throws(StoreError) -> BatchDetail? {
    try await batch(BatchID(owner: Fixture.owner, name: name), in: .everything)
  }

  func batchExists(_ name: String) async throws(StoreError) -> Bool { try await batch(name) != nil }

  func jobs(
    state: JobState? = nil, batch: String? = nil, after: JobID? = nil, limit: Int
  ) async throws(StoreError) -> [JobRecord] {
    let batch = batch.map { BatchID(owner: Fixture.owner, name: $0) }
    return try await jobs(state: state, batch: batch, after: after, limit: limit, in: .everything)
  }

  func events(since: Int64, jobs: Set<JobID>? = nil, limit: Int) async throws(StoreError) -> [Event] {
    try await events(since: since, jobs: jobs, limit: limit, in: .everything)
  }

  func submit(_ specs: [JobSpec], at now: Date) async -> [Result<Submission, StoreError>] {
    await submit(specs, in: .everything, at: now)
  }

  func transition(
    _ ids: [JobID], _ event: JobEvent, at now: Date, reason: String? = nil
  ) async -> [Result<JobState, StoreError>] {
    await transition(ids, event, in: .everything, at: now, reason: reason)
  }

  func remove(_ ids: [JobID], at now: Date) async -> [Result<Void, StoreError>] {
    await remove(ids, in: .everything, at: now)
  }

  func update(
    _ id: JobID, priority: Int? = nil, limitRate: Int64?? = nil, address: AddressChange? = nil, at now: Date
  ) async throws(StoreError) -> JobRecord {
    try await update(id, priority: priority, limitRate: limitRate, address: address, in: .everything, at: now)
  }
}
