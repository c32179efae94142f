import HTTPServer
import NIOHTTP1
import TransferAPI

extension Handlers {
  static let addFolder: RouteTable.Handler = { request, daemon in
    let folder = try await daemon.folders.add(try await request.body(NewFolder.self), from: request.caller)
    return try Reply.json(folder, status: .created, headers: ["Location": "/v1/folders/\(folder.id)"])
  }

  static let listFolders: RouteTable.Handler = { request, daemon in
    try Reply.json(try await daemon.folders.list(in: try request.scope()))
  }

  static let removeFolder: RouteTable.Handler = { request, daemon in
    guard let id = Int64(request.parameter) else { throw Problem(.notFound, "no folder \"\(request.parameter)\"") }
    try await daemon.folders.remove(id, in: request.caller.scope)
    return Response(status: .noContent)
  }
}
