import GRDB
public import TransferAPI

/// Whose jobs a call reaches. Every query and every change that a caller causes takes one, without a default: a call that
/// forgets it does not compile. What lies outside does not exist for the call.
public enum Scope: Hashable, Sendable {
  /// The jobs of all users: for the daemon's own user, root, and the daemon itself.
  case everything
  /// The jobs of the user with this uid.
  case owner(UInt32)

  public func includes(_ owner: UInt32) -> Bool {
    switch self {
    case .everything: true
    case .owner(let uid): uid == owner
    }
  }
}

/// A batch: its name is unique for its owner only.
public struct BatchID: Hashable, Sendable {
  public var owner: UInt32
  public var name: String

  public init(owner: UInt32, name: String) {
    self.owner = owner
    self.name = name
  }
}

/// A `JobSelector` whose batch is known.
public enum JobSelection: Equatable, Sendable {
  case ids([JobID])
  case batch(BatchID)
  case state(JobState)
  case all
}

extension Store {
  /// The batch that a caller means by a name: the caller's own batch of that name, else the only one in scope.
  /// - Parameter caller: the caller's uid.
  /// - Throws: `noSuchBatch`; `ambiguousBatch` where several other users have one.
  public func batchID(
    named name: String, for caller: UInt32, in scope: Scope
  ) async throws(StoreError) -> BatchID {
    let owners = try await read { db in
      try db.rows("SELECT owner FROM batch WHERE name = ? ORDER BY owner") { bind in
        bind(name)
      } read: {
        try $0.uid()
      }
    }.filter(scope.includes)
    if owners.contains(caller) { return BatchID(owner: caller, name: name) }
    guard let only = owners.first else { throw .noSuchBatch(name) }
    guard owners.count == 1 else { throw .ambiguousBatch(name, owners: owners) }
    return BatchID(owner: only, name: name)
  }

  /// What a selector means to a caller.
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
