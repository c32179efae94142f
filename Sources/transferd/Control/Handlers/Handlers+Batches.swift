import FoundationEssentials
import HTTPServer
import NIOCore
import NIOHTTP1
import Store
import TransferAPI

extension Handlers {
  /// All batches, as one array that is written page by page: a client that does not read holds one page in memory.
  static let listBatches: RouteTable.Handler = { request, daemon in
    let (user, scope) = (request.caller.uid, try request.scope())
    let first = try await batches(after: nil, for: user, in: scope, daemon)
    return Response(
      status: .ok, headers: ["Content-Type": "application/json"],
      body: .stream { writer in
        var page = first
        try await writer.write(ByteBuffer(string: "["))
        while true {
          try await writer.write(page.text)
          guard let last = page.last else { break }
          page = try await batches(after: last, for: user, in: scope, daemon)
        }
        try await writer.write(ByteBuffer(string: "]\n"))
      })
  }

  /// Batches of one page: about `Reply.pieceBytes` if their names are short.
  private static let batchPage = 200

  /// The elements of a page, with a comma before each of them that is not the first of all, and the batch after which
  /// the next page begins; `nil` for the last page.
  private static func batches(
    after: BatchID?, for user: UInt32, in scope: Scope, _ daemon: DaemonServices
  ) async throws -> (text: ByteBuffer, last: BatchID?) {
    await AsyncSemaphore.longResponses.enter(for: user)
    defer { AsyncSemaphore.longResponses.leave() }
    let batches = try await daemon.store.batches(after: after, limit: batchPage, in: scope)
    let encoder = WireCoding.encoder()
    var text = ByteBuffer()
    for (index, batch) in batches.enumerated() {
      if index > 0 || after != nil { text.writeString(",") }
      text.writeBytes(try encoder.encode(batch))
    }
    guard batches.count == batchPage, let last = batches.last, let owner = last.owner else { return (text, nil) }
    return (text, BatchID(owner: owner, name: last.name))
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
      throw Problem(
        .invalid, text: "\(field: "maxActive") must be from 1 to \(Admission.range.upperBound), or null for no limit")
    }
    if case .some(.some(let priority)) = change.priority, !JobValidation.priorities.contains(priority) {
      throw Problem(.invalid, text: "\(field: "priority") must be from -1000 to 1000, or null")
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
