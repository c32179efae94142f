import Foundation
import NIOCore
import NIOHTTP1
import TestSupport

@testable import HTTPServer

/// A server in this process, on a Unix socket of its own.
final class Server: Sendable {
  let directory: TemporaryDirectory
  let path: String
  let listener: Listener
  private let task: Task<Void, any Error>

  init(
    limits: ServerLimits = .forTests,
    respond: @escaping @Sendable (Request) async throws -> Response = Server.standard
  ) async throws {
    directory = try TemporaryDirectory()
    path = directory.path("s")
    let listener = Listener(limits: limits, refuse: Server.refusal) { request in
      do {
        return try await respond(request)
      } catch let error as RequestError {
        return Server.refusal(error)
      } catch {
        return Response(status: .internalServerError, body: .bytes(ByteBuffer(string: "\(error)")))
      }
    }
    self.listener = listener
    let socket = try ListeningSocket(path: path, group: nil)
    let ready = Gate()
    task = Task { try await listener.run(on: socket) { ready.open() } }
    try await ready.wait()
  }

  deinit { task.cancel() }

  func stop() async throws {
    task.cancel()
    try await task.value
  }

  func client(isReading: Bool = true) throws -> SocketClient { try SocketClient(path, isReading: isReading) }

  /// Sends all of it and returns all that comes until the server ends the connection.
  func answer(to text: String, endingInput: Bool = false) async throws -> String {
    let client = try client()
    client.send(text)
    if endingInput { client.endSending() }
    return try await client.receiveAll()
  }

  @Sendable static func refusal(_ error: RequestError) -> Response {
    Response(status: error.status, body: .bytes(ByteBuffer(string: "\(error)\n")))
  }

  /// `/echo` answers with the body, `/stream` with two pieces, anything else with the method and the path.
  @Sendable static func standard(_ request: Request) async throws -> Response {
    switch request.target.path {
    case "/echo":
      let body = try await request.body.collect(upTo: 1 << 20)
      return Response(status: .ok, body: .bytes(body.bytes))
    case "/stream":
      return Response(
        status: .ok,
        body: .stream { writer in
          for piece in ["one\n", "two\n"] { try await writer.write(ByteBuffer(string: piece)) }
        })
    default:
      return Response(
        status: .ok, body: .bytes(ByteBuffer(string: "\(request.method.rawValue) \(request.target.path)\n")))
    }
  }
}

extension ServerLimits {
  /// The user of the tests is privileged.
  static var forTests: ServerLimits { changed { _ in } }

  static func changed(_ change: (inout ServerLimits) -> Void) -> ServerLimits {
    var limits = ServerLimits(connections: 200)
    limits.privilegedUsers = [geteuid()]
    change(&limits)
    return limits
  }
}

extension String {
  /// A request head with Host, and its fields.
  static func head(_ line: String, _ fields: String...) -> String {
    ([line + " HTTP/1.1", "Host: x"] + fields + ["", ""]).joined(separator: "\r\n")
  }

  /// The status codes of all responses in it.
  var statuses: [Int] {
    components(separatedBy: "HTTP/1.").dropFirst().compactMap { Int($0.dropFirst(2).prefix(3)) }
  }
}
