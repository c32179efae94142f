import HTTPServer
import Logging
import NIOHTTP1
import Store
import TransferAPI

/// Every route of the control API, as one literal table: method, path, who may call it, which fields need a privilege, handler.
/// docs/control-api.md and openapi.yaml describe the same routes.
struct RouteTable: Sendable {
  typealias Handler = @Sendable (ControlRequest, DaemonServices) async throws -> Response

  let daemon: DaemonServices
  let access: PeerAccess
  let logger: Logger

  struct Route: Sendable {
    let method: HTTPMethod
    let path: RoutePattern
    /// The privilege that a caller needs for the route; `nil`: every user of the socket may use it. Handlers access
    /// only the jobs in the caller's `Scope`.
    let privilege: Privilege?
    /// The fields of the body or the query that need a privilege.
    let fields: [PrivilegedField]
    let handler: Handler

    init(
      _ method: HTTPMethod, _ path: String, _ privilege: Privilege?, _ fields: [PrivilegedField],
      _ handler: @escaping Handler
    ) {
      self.method = method
      self.path = RoutePattern(path)
      self.privilege = privilege
      self.fields = fields
      self.handler = handler
    }

    func isOpen(to caller: Caller) -> Bool { privilege.map(caller.has) ?? true }
  }

  static let routes: [Route] = [
    Route(.POST, "/v1/jobs", .everyone, .newJob, Handlers.addJob),
    Route(.POST, "/v1/jobs:batch", .everyone, .newJob, Handlers.addJobs),
    Route(.GET, "/v1/jobs", .everyone, .owner, Handlers.listJobs),
    Route(.GET, "/v1/jobs/{id}", .everyone, .owner, Handlers.showJob),
    Route(.PATCH, "/v1/jobs/{id}", .everyone, .jobChange, Handlers.changeJob),
    Route(.DELETE, "/v1/jobs/{id}", .everyone, .none, Handlers.removeJob),
    Route(.POST, "/v1/jobs/{id}:pause", .everyone, .none, Handlers.verb(.pause)),
    Route(.POST, "/v1/jobs/{id}:resume", .everyone, .none, Handlers.verb(.resume)),
    Route(.POST, "/v1/jobs/{id}:cancel", .everyone, .none, Handlers.verb(.cancel)),
    Route(.POST, "/v1/jobs/{id}:retry", .everyone, .none, Handlers.verb(.retry)),
    Route(.POST, "/v1/jobs:pause", .everyone, .owner, Handlers.verbs(.pause)),
    Route(.POST, "/v1/jobs:resume", .everyone, .owner, Handlers.verbs(.resume)),
    Route(.POST, "/v1/jobs:cancel", .everyone, .owner, Handlers.verbs(.cancel)),
    Route(.POST, "/v1/jobs:retry", .everyone, .owner, Handlers.verbs(.retry)),
    Route(.POST, "/v1/jobs:remove", .everyone, .owner, Handlers.verbs(.remove)),
    Route(.GET, "/v1/events", .everyone, .owner, Handlers.events),
    Route(.GET, "/v1/batches", .everyone, .owner, Handlers.listBatches),
    Route(.GET, "/v1/batches/{name}", .everyone, .owner, Handlers.showBatch),
    Route(.PATCH, "/v1/batches/{name}", .everyone, .owner, Handlers.changeBatch),
    Route(.GET, "/v1/plan", .everyone, .owner, Handlers.showPlan),
    Route(.POST, "/v1/folders", .everyone, .newFolder, Handlers.addFolder),
    Route(.GET, "/v1/folders", .everyone, .owner, Handlers.listFolders),
    Route(.DELETE, "/v1/folders/{id}", .everyone, .none, Handlers.removeFolder),
    Route(.GET, "/v1/limits", .daemonControl, .none, Handlers.showLimits),
    Route(.PATCH, "/v1/limits", .daemonControl, .none, Handlers.changeLimits),
    Route(.GET, "/v1/export", .everyone, .owner, Handlers.export),
    Route(.POST, "/v1/spool", .everyone, .none, Handlers.makeSpool),
    Route(.GET, "/v1/spool/{token}", .everyone, .none, Handlers.showSpool),
    Route(.PUT, "/v1/spool/{token}", .everyone, .none, Handlers.fillSpool),
    Route(.DELETE, "/v1/spool/{token}", .everyone, .none, Handlers.removeSpool),
    Route(.GET, "/v1/stats", .everyone, .owner, Handlers.stats),
    Route(.POST, "/v1/daemon:reload", .daemonControl, .none, Handlers.reload),
    Route(.POST, "/v1/daemon:stop", .daemonControl, .none, Handlers.stop),
    Route(.GET, "/healthz", .everyone, .none, Handlers.health),
    Route(.GET, "/metrics", .everyone, .owner, Handlers.metrics),
  ]

  /// The response to a request. A HEAD request is handled like GET; the server leaves the body out (RFC 9110 §9.3.2).
  func respond(to request: Request) async -> Response {
    do {
      return try await route(request)
    } catch let problem as Problem {
      return Reply.problem(problem)
    } catch let error as StoreError {
      // A closed store means that the daemon is stopping: 503, and the client asks the next daemon.
      return Reply.problem(Problem(error))
    } catch {
      logger.error("cannot handle a request", metadata: ["path": "\(request.target.path)", "error": "\(error)"])
      return Reply.problem(Problem(.internal, "\(error)"))
    }
  }

  private func route(_ request: Request) async throws -> Response {
    guard let uid = request.peer.uid, access.allows(uid) else {
      throw Problem(.permission, "this socket is for the user that runs transferd")
    }
    let (method, path) = (request.method.rawValue, request.target.path)
    let components = request.target.components
    var allowed: [String] = []
    for route in Self.routes {
      guard let parameter = route.path.match(components) else { continue }
      guard route.method == (request.method == .HEAD ? .GET : request.method) else {
        allowed += route.method == .GET ? ["GET", "HEAD"] : [route.method.rawValue]
        continue
      }
      let caller = Caller(uid: uid, daemon: access.uid)
      guard route.isOpen(to: caller) else {
        throw Problem(.permission, "\(method) \(path) is for the user that runs transferd and for root")
      }
      return try await route.handler(ControlRequest(request: request, parameter: parameter, caller: caller), daemon)
    }
    guard !allowed.isEmpty else { throw Problem(.notFound, "there is nothing at \(path)") }
    var refusal = Reply.problem(Problem(.methodNotAllowed, "\(path) does not support \(method)"))
    refusal.headers.add(name: "Allow", value: allowed.joined(separator: ", "))  // RFC 9110 §15.5.6
    return refusal
  }
}

extension Privilege? {
  /// No privilege is needed.
  fileprivate static var everyone: Self { nil }
}
