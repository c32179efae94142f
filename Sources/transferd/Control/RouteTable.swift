import Hummingbird
import Logging
import NIOCore
import Store
import TransferAPI

/// Every route of the control API, as one literal table. docs/control-api.md and openapi.yaml say the same.
struct RouteTable: HTTPResponder {
  typealias Context = ControlContext
  typealias Handler = @Sendable (ControlRequest, DaemonFace) async throws -> Response

  let daemon: DaemonFace
  let access: PeerAccess
  let logger: Logger

  /// Who may call a route, of those who may connect.
  private enum Audience: Equatable, Sendable {
    /// Everyone. What the handlers reach is the caller's own: `Scope`.
    case everyone
    /// The user that the daemon runs as, and root.
    case administrators

    func includes(_ caller: Caller) -> Bool { self == .everyone || !caller.isMember }
  }

  private struct Route: Sendable {
    var method: HTTPRequest.Method
    var path: [Component]
    var audience: Audience
    var handler: Handler

    init(_ method: HTTPRequest.Method, _ path: String, _ audience: Audience, _ handler: @escaping Handler) {
      self.method = method
      self.path = path.split(separator: "/").map { Component(String($0)) }
      self.audience = audience
      self.handler = handler
    }
  }

  private enum Component: Equatable, Sendable {
    case literal(String)
    /// `{id}`, with the verb behind its colon, if any: `{id}:pause`.
    case parameter(suffix: String)

    init(_ text: String) {
      if text.hasPrefix("{"), let end = text.firstIndex(of: "}") {
        self = .parameter(suffix: String(text[text.index(after: end)...]))
      } else {
        self = .literal(text)
      }
    }
  }

  private static let routes: [Route] = [
    Route(.post, "/v1/jobs", .everyone, Handlers.addJob),
    Route(.post, "/v1/jobs:batch", .everyone, Handlers.addJobs),
    Route(.get, "/v1/jobs", .everyone, Handlers.listJobs),
    Route(.get, "/v1/jobs/{id}", .everyone, Handlers.showJob),
    Route(.patch, "/v1/jobs/{id}", .everyone, Handlers.changeJob),
    Route(.delete, "/v1/jobs/{id}", .everyone, Handlers.removeJob),
    Route(.post, "/v1/jobs/{id}:pause", .everyone, Handlers.verb(.pause)),
    Route(.post, "/v1/jobs/{id}:resume", .everyone, Handlers.verb(.resume)),
    Route(.post, "/v1/jobs/{id}:cancel", .everyone, Handlers.verb(.cancel)),
    Route(.post, "/v1/jobs/{id}:retry", .everyone, Handlers.verb(.retry)),
    Route(.post, "/v1/jobs:pause", .everyone, Handlers.verbs(.pause)),
    Route(.post, "/v1/jobs:resume", .everyone, Handlers.verbs(.resume)),
    Route(.post, "/v1/jobs:cancel", .everyone, Handlers.verbs(.cancel)),
    Route(.post, "/v1/jobs:retry", .everyone, Handlers.verbs(.retry)),
    Route(.post, "/v1/jobs:remove", .everyone, Handlers.verbs(.remove)),
    Route(.get, "/v1/events", .everyone, Handlers.events),
    Route(.get, "/v1/batches", .everyone, Handlers.listBatches),
    Route(.get, "/v1/batches/{name}", .everyone, Handlers.showBatch),
    Route(.get, "/v1/export", .everyone, Handlers.export),
    Route(.post, "/v1/spool", .everyone, Handlers.makeSpool),
    Route(.get, "/v1/spool/{token}", .everyone, Handlers.showSpool),
    Route(.put, "/v1/spool/{token}", .everyone, Handlers.fillSpool),
    Route(.delete, "/v1/spool/{token}", .everyone, Handlers.removeSpool),
    Route(.get, "/v1/stats", .everyone, Handlers.stats),
    Route(.post, "/v1/daemon:reload", .administrators, Handlers.reload),
    Route(.post, "/v1/daemon:stop", .administrators, Handlers.stop),
    Route(.get, "/healthz", .everyone, Handlers.health),
    Route(.get, "/metrics", .everyone, Handlers.metrics),
  ]

  /// HEAD is answered as GET is, without the body. RFC 9110 §9.3.2
  func respond(to request: Request, context: ControlContext) async throws -> Response {
    let response = await answer(to: request, context)
    return request.method == .head ? Self.head(of: response) : response
  }

  /// Of a stream the length is not known, and NIO would write the end of its chunks, which is a body already: the connection
  /// is closed in its place.
  private static func head(of response: Response) -> Response {
    var head = response.createHeadResponse()
    if response.headers[.contentLength] == nil {
      head.body = .init { _ in throw CancellationError() }
      head.headers[.connection] = "close"
    }
    return head
  }

  private func answer(to request: Request, _ context: ControlContext) async -> Response {
    do {
      guard let peer = try await context.peerUID(), access.allows(peer) else {
        throw Problem(.permission, "this socket is for the user that runs transferd")
      }
      let components = request.uri.path.split(separator: "/").map { $0.removingPercentEncoding ?? String($0) }
      var allowed: [String] = []
      for route in Self.routes {
        guard let parameter = Self.match(route.path, components) else { continue }
        guard route.method == (request.method == .head ? .get : request.method) else {
          allowed.append(route.method.rawValue)
          if route.method == .get { allowed.append(HTTPRequest.Method.head.rawValue) }
          continue
        }
        let caller = Caller(uid: peer, daemon: access.uid)
        guard route.audience.includes(caller) else {
          throw Problem(
            .permission,
            "\(request.method.rawValue) \(request.uri.path) is for the user that runs transferd and for root")
        }
        return try await route.handler(
          ControlRequest(request: request, parameter: parameter, caller: caller, channel: context.channel), daemon)
      }
      guard !allowed.isEmpty else { throw Problem(.notFound, "there is nothing at \(request.uri.path)") }
      var refusal = Reply.problem(
        Problem(.methodNotAllowed, "\(request.method.rawValue) is not for \(request.uri.path)"))
      refusal.headers[.allow] = allowed.joined(separator: ", ")  // RFC 9110 §15.5.6
      return refusal
    } catch let problem as Problem {
      return Reply.problem(problem)
    } catch let error as StoreError {
      // A store that is closed means a daemon that stops: 503, and the client asks the next one.
      return Reply.problem(Problem(error))
    } catch {
      logger.error("cannot answer a request", metadata: ["path": "\(request.uri.path)", "error": "\(error)"])
      return Reply.problem(Problem(.internal, "\(error)"))
    }
  }

  /// The parameter, `""` where the route has none; `nil` where it does not match.
  private static func match(_ route: [Component], _ path: [String]) -> String? {
    guard route.count == path.count else { return nil }
    var parameter = ""
    for (component, text) in zip(route, path) {
      switch component {
      case .literal(let literal): guard literal == text else { return nil }
      case .parameter(let suffix):
        guard text.hasSuffix(suffix), text.utf8.count > suffix.utf8.count else { return nil }
        let value = String(text.dropLast(suffix.count))
        // A job's id has no colon; what follows one is another verb.
        if suffix.isEmpty, route.contains(.literal("jobs")), value.contains(":") { return nil }
        parameter = value
      }
    }
    return parameter
  }
}
