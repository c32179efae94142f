import FoundationEssentials
import Hummingbird
import NIOCore
import TransferAPI

extension Handlers {
  /// An empty file for what comes by standard input.
  static let makeSpool: RouteTable.Handler = { request, daemon in
    guard let name = request.query("name") else { throw Problem(.invalid, "name says what the file is called") }
    await daemon.sweepSpools()
    return try Reply.json(try daemon.spools.create(name, for: request.caller.uid), status: .created)
  }

  /// A piece of it, at its end.
  static let fillSpool: RouteTable.Handler = { request, daemon in
    guard let offset = try request.integer("offset", in: Int64(0)...Int64.max) else {
      throw Problem(.invalid, "offset says where the piece begins")
    }
    let limit = SpoolDirectory.maximumPieceBytes
    let buffer: ByteBuffer
    do {
      buffer = try await request.request.body.collect(upTo: limit)
    } catch is NIOTooManyBytesError {
      throw Problem(.tooLarge, "a piece has at most \(limit) bytes")
    }
    let piece = Array(buffer.readableBytesView)
    let (spools, token, scope) = (daemon.spools, request.parameter, request.caller.scope)
    let result = await BlockingWork.run {
      Result { () throws(Problem) in try spools.append(piece, at: offset, to: token, in: scope) }
    }
    return try Reply.json(try result.get())
  }

  static let showSpool: RouteTable.Handler = { request, daemon in
    try Reply.json(try daemon.spools.status(request.parameter, in: request.caller.scope))
  }

  /// What no job has. A job's is its own to remove.
  static let removeSpool: RouteTable.Handler = { request, daemon in
    let scope = request.caller.scope
    _ = try daemon.spools.status(request.parameter, in: scope)
    guard try await daemon.store.spools()[request.parameter] == nil else {
      throw Problem(.notAllowed, "a job has it; remove the job")
    }
    daemon.spools.remove(request.parameter, in: scope)
    return Response(status: .noContent)
  }
}
