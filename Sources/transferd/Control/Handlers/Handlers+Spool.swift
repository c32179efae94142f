import HTTPServer
import NIOCore
import NIOHTTP1
import Store
import TransferAPI

extension Handlers {
  /// Makes an empty file, for data that a client reads from its standard input.
  static let makeSpool: RouteTable.Handler = { request, daemon in
    guard let name = request.query("name") else { throw Problem(.invalid, "missing parameter name: the file's name") }
    let known = await daemon.sweepSpools()
    return try Reply.json(try daemon.spools.create(name, for: request.caller.uid, known: known), status: .created)
  }

  /// Appends a piece to the file.
  static let fillSpool: RouteTable.Handler = { request, daemon in
    guard let offset = try request.integer("offset", in: Int64(0)...Int64.max) else {
      throw Problem(.invalid, "missing parameter offset: where the piece begins")
    }
    let body = try await request.collected(upTo: SpoolDirectory.maximumPieceBytes)
    let piece = Array(body.bytes.readableBytesView)
    let (spools, token, scope) = (daemon.spools, request.parameter, request.caller.scope)
    // The daemon's own records are on this file system.
    let least = request.caller.role == .member ? daemon.storage.minFree : 0
    let result = await BlockingWork.run {
      Result { () throws(Problem) in try spools.append(piece, at: offset, to: token, in: scope, leaving: least) }
    }
    return try withExtendedLifetime(body.reservation) { try Reply.json(try result.get()) }
  }

  static let showSpool: RouteTable.Handler = { request, daemon in
    try Reply.json(try daemon.spools.status(request.parameter, in: request.caller.scope))
  }

  /// Removes a file that no job has taken. The file of a job is removed with the job.
  static let removeSpool: RouteTable.Handler = { request, daemon in
    let scope = request.caller.scope
    _ = try daemon.spools.status(request.parameter, in: scope)
    guard try await daemon.store.spools()[request.parameter] == nil else {
      throw Problem(.notAllowed, "a job uses the spooled file; remove the job")
    }
    daemon.spools.remove(request.parameter, in: scope)
    return Response(status: .noContent)
  }
}
