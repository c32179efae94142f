import GRDB
public import TransferAPI

extension Store {
  /// The batch with a name: the caller's own batch, else the only one in scope.
  /// - Parameter caller: the caller's uid.
  /// - Throws: `noSuchBatch`; `ambiguousBatch` if several other users have one.
  public func batchID(
    named name: String, for caller: UInt32, in scope: Scope
  ) async throws(StoreError) -> BatchID {
    try await read { db in try db.batchID(named: name, for: caller, in: scope) }
  }

  /// The jobs that a caller selects.
  /// - Throws: as `batchID(named:for:in:)`.
  public func selection(
    of selector: JobSelector, for caller: UInt32, in scope: Scope
  ) async throws(StoreError) -> JobSelection {
    switch selector {
    case .ids(let ids): .ids(ids)
    case .batch(let name): .batch(try await batchID(named: name, for: caller, in: scope))
    case .state(let state): .state(state)
    case .all: .all
    }
  }
}

extension Database {
  /// As `Store.batchID(named:for:in:)`.
  func batchID(named name: String, for caller: UInt32, in scope: Scope) throws -> BatchID {
    let owners = try rows("SELECT owner FROM batch WHERE name = :name ORDER BY owner") { bind in
      bind("name", name)
    } read: {
      try $0.uid("owner")
    }.filter(scope.includes)
    if owners.contains(caller) { return BatchID(owner: caller, name: name) }
    guard let only = owners.first else { throw StoreError.noSuchBatch(name) }
    guard owners.count == 1 else { throw StoreError.ambiguousBatch(name, owners: owners) }
    return BatchID(owner: only, name: name)
  }
}
