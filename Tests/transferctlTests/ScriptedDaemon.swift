import FoundationEssentials
import Synchronization
import TransferAPI

@testable import transferctl

/// A daemon whose responses the test provides. It records the requests.
final class ScriptedDaemon: ControlTransport {
  typealias Response = (status: Int, body: String)

  private let answer: @Sendable (_ method: String, _ path: String, _ count: Int) throws -> Response
  private let log = Mutex<[String]>([])

  /// - Parameter answer: called with the number of earlier requests with this method and path (without its query). The
  ///   body of a stream is sent at once; the stream stays open if the body ends with `…`.
  init(
    _ answer: @escaping @Sendable (_ method: String, _ path: String, _ count: Int) throws -> Response
  ) {
    self.answer = answer
  }

  var requests: [String] { log.withLock { $0 } }

  func connection(
    explicit: Bool = true, socket: String = "/dev/null", mayStart: Bool = false,
    responseTimeout: Duration = .seconds(60)
  ) throws -> Connection {
    var locations = try Locations(
      socket: socket, stateDirectory: "/nonexistent", environment: [:], uid: 1, home: nil,
      directoryExists: { _ in false })
    locations.isSocketExplicit = explicit
    return Connection(
      locations: locations, mayStart: mayStart, systemSocket: "/nonexistent/system.sock",
      makeTransport: { _ in self }, responseTimeout: responseTimeout)
  }

  var client: ControlClient { ControlClient(socket: "/dev/null", transport: self) }

  func send(
    _ method: String, _ path: String, body: Data?, contentType: String?
  ) async throws -> (status: Int, body: Data) {
    let answer = try next(method, path)
    return (answer.status, Data(answer.body.utf8))
  }

  func stream(
    _ method: String, _ path: String, body: Data?, contentType: String?, headers: [String: String]
  ) async throws -> (status: Int, chunks: AsyncThrowingStream<Data, any Error>) {
    var (status, text) = try next(method, path)
    let (chunks, continuation) = AsyncThrowingStream<Data, any Error>.makeStream()
    let staysOpen = text.hasSuffix("…")
    if staysOpen { text.removeLast() }
    continuation.yield(Data(text.utf8))
    if !staysOpen { continuation.finish() }
    return (status, chunks)
  }

  private func next(_ method: String, _ path: String) throws -> Response {
    let route = String(path.prefix { $0 != "?" })
    let count = log.withLock { log in
      defer { log.append("\(method) \(path)") }
      return log.count { $0 == "\(method) \(route)" || $0.hasPrefix("\(method) \(route)?") }
    }
    return try answer(method, path, count)
  }

  static func stats(lastEvent: Int64) throws -> Response {
    let stats = Stats(
      version: "1", pid: 1, stateDirectory: "/", startedAt: Date(timeIntervalSince1970: 0),
      counts: StateCounts(), bytesPerSecond: 0, maxActive: 1, maxPerOrigin: 1, lastEvent: lastEvent)
    return (200, try json(stats))
  }

  static func page(_ jobs: [Job], next: Int64? = nil) throws -> Response {
    (200, try json(JobPage(jobs: jobs, next: next.map { JobID($0) })))
  }

  static func problem(_ code: Problem.Code, _ detail: String) throws -> Response {
    (code.status, try json(Problem(code, detail)))
  }
}
