import Hummingbird
import TransferAPI

extension Handlers {
  static let listBatches: RouteTable.Handler = { _, daemon in
    try Reply.json(try await daemon.store.batches())
  }

  static let showBatch: RouteTable.Handler = { request, daemon in
    guard let batch = try await daemon.store.batch(request.parameter) else {
      throw Problem(.notFound, "no batch \"\(request.parameter)\"")
    }
    return try Reply.json(batch)
  }
}
