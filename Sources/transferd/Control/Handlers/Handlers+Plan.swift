import HTTPServer
import Store
import TransferAPI

extension Handlers {
  static let showPlan: RouteTable.Handler = { request, daemon in
    let scope = try request.scope()
    let batch = try await request.batch(in: scope, daemon.store)
    let counts: StateCounts
    if let batch {
      guard let detail = try await daemon.store.batch(batch, in: scope) else {
        throw StoreError.noSuchBatch(batch.name)
      }
      counts = detail.batch.counts
    } else {
      counts = try await daemon.store.counts(in: scope)
    }
    await AsyncSemaphore.longResponses.enter(for: request.caller.uid)
    defer { AsyncSemaphore.longResponses.leave() }
    return try Reply.json(
      try await daemon.scheduler.plan(batch: batch, total: counts.queued + counts.retrying, in: scope))
  }
}
