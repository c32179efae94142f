import Foundation
import Glibc

/// A scripted HTTP/1.1 server on 127.0.0.1 with real sockets, one blocking thread per connection, and exact faults.
///
/// ```swift
/// let payload = Payload(size: 8 << 20)
/// let server = try LoopbackServer(.file(payload).dropping(after: 1 << 20, on: .first(2)))
/// … server.url("/a.iso") …
/// try await server.waitForRequests(3)
/// #expect(server.requests[1].headers["Range"] == "bytes=1048576-")
/// ```
public final class LoopbackServer: Sendable {
  /// Chooses the script for a request. It is called on the connection's thread and must not block.
  public typealias Handler = @Sendable (ServedRequest) -> Script

  /// The time at which a request's body is read.
  public enum BodyReading: Sendable {
    /// Before the handler is called, after `100 Continue` if the client expects it.
    case beforeHandler
    /// By `.readBody` steps; the handler is called as soon as the head has arrived.
    case byScript
  }

  /// The server's counters since its start.
  public struct Counters: Sendable, Equatable {
    /// Body bytes written to sockets. A client that disconnects early may have read fewer.
    public internal(set) var bodyBytesSent: Int64 = 0
    public internal(set) var connections = 0
    public internal(set) var openConnections = 0
    public internal(set) var maxOpenConnections = 0
    /// The number of requests being served now, and its maximum.
    public internal(set) var openRequests = 0
    public internal(set) var maxOpenRequests = 0
  }

  /// The number of bytes of each request's body that are kept for tests.
  public static let keptBodyBytes = 8 << 20
  /// Maximum number of connections that are served at once; further ones wait in the listening socket's queue.
  public static let connectionLimit = 256

  private let core: ServerCore

  /// Starts a server with a handler.
  public init(bodies: BodyReading = .beforeHandler, _ handler: @escaping Handler) throws {
    core = try ServerCore(bodies: bodies, handler: handler)
    startThread { [core] in core.accept() }
  }

  /// Starts a server that serves the same file at every path.
  public convenience init(_ behaviour: FileBehaviour) throws {
    try self.init(behaviour.handler())
  }

  /// Starts a server with a file at each of these paths; other paths get 404.
  public convenience init(files: [String: FileBehaviour]) throws {
    let handlers = files.mapValues { $0.handler() }
    try self.init { handlers[$0.path]?($0) ?? .response(404, text: "not here\n") }
  }

  deinit { stop() }

  public var port: UInt16 { core.port }

  /// The URL of a target, which must begin with `/`.
  public func url(_ target: String) -> String { "http://127.0.0.1:\(port)\(target)" }

  /// `127.0.0.1:port`, as in a URL.
  public var authority: String { "127.0.0.1:\(port)" }

  /// The requests so far, in the order they arrived.
  public var requests: [ServedRequest] { core.records.value.requests }

  public var counters: Counters { core.records.value.counters }

  /// Suspends until `count` requests that match have arrived, and returns them.
  ///
  /// A request counts when its head has arrived and, unless the script reads bodies, its body too.
  @discardableResult
  public func waitForRequests(
    _ count: Int = 1, timeout: Duration = .seconds(120),
    where matches: @escaping @Sendable (ServedRequest) -> Bool = { _ in true }
  ) async throws -> [ServedRequest] {
    try await core.records.wait(for: "\(count) requests to the loopback server", timeout: timeout) {
      let found = $0.requests.filter(matches)
      return found.count >= count ? found : nil
    }
  }

  /// Suspends until the counters meet a condition, such as `{ $0.openConnections == 0 }`.
  public func waitForCounters(
    timeout: Duration = .seconds(120), until condition: @escaping @Sendable (Counters) -> Bool
  ) async throws {
    try await core.records.wait(for: "counters of the loopback server", timeout: timeout) {
      condition($0.counters) ? () : nil
    }
  }

  /// Ends all stalls, including those of later requests.
  public func release() { core.released.open() }

  /// Closes the listening socket and all connections, and returns when their threads have ended.
  ///
  /// Later connections are refused; the rest of running scripts is not sent.
  public func stop() { core.stop() }
}
