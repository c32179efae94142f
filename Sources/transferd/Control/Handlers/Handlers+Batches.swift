import Store
import TransferAPI

extension Handlers {
  static let listBatches: RouteTable.Handler = { request, daemon in
    try Reply.json(try await daemon.store.batches(in: try request.scope()))
  }

  static let showBatch: RouteTable.Handler = { request, daemon in
    let scope = try request.scope()
    let id = try await daemon.store.batchID(named: request.parameter, for: request.caller.uid, in: scope)
    guard let batch = try await daemon.store.batch(id, in: scope) else { throw StoreError.noSuchBatch(id.name) }
    return try Reply.json(batch)
  }

  static let changeBatch: RouteTable.Handler = { request, daemon in
    let scope = try request.scope()
    let change = try await request.body(BatchChange.self)
    if case .some(.some(let count)) = change.maxActive, !Admission.range.contains(count) {
      throw Problem(.invalid, "maxActive must be from 1 to \(Admission.range.upperBound), or null")
    }
    if case .some(.some(let priority)) = change.priority, !JobValidation.priorities.contains(priority) {
      throw Problem(.invalid, "the priority must be from -1000 to 1000, or null")
    }
    let id = try await daemon.store.batchID(named: request.parameter, for: request.caller.uid, in: scope)
    try await daemon.scheduler.update(id, change)
    guard let batch = try await daemon.store.batch(id, in: scope) else { throw StoreError.noSuchBatch(id.name) }
    return try Reply.json(batch)
  }
}

extension ControlRequest {
  /// The batch that the query names; `nil` if it names none.
  /// - Throws: `StoreError` if there is no such batch, or several in the scope.
  func batch(in scope: Scope, _ store: Store) async throws -> BatchID? {
    guard let name = query("batch") else { return nil }
    return try await store.batchID(named: name, for: caller.uid, in: scope)
  }
}
