import FoundationEssentials
import HTTPTypes
import TransferEngine

/// The control socket through the project's own engine.
struct EngineTransport: ControlTransport {
  private let session: Session

  init(socket: String) {
    var configuration = SessionConfiguration()
    configuration.unixSocketPath = socket
    configuration.connectTimeout = .seconds(2)
    // Somebody who waits for a job may hear nothing for hours.
    configuration.stallTimeout = nil
    session = Session(configuration: configuration)
  }

  func send(
    _ method: String, _ path: String, body: Data?, contentType: String?
  ) async throws -> (status: Int, body: Data) {
    let request = session.request(
      try Self.url(path), method: Self.method(method), headers: Self.fields(contentType, [:]),
      body: body.map { .data($0) })
    // A daemon that accepts and says nothing would keep us for ever.
    let answer = await withTaskCancellationHandler {
      await request.response()
    } onCancel: {
      request.cancel()
    }
    if let error = answer.error { throw Self.lost(error) }
    guard let head = answer.head else {
      throw ControlError.unexpected("the daemon's answer has no status")
    }
    return (head.status, answer.data ?? Data())
  }

  func stream(
    _ method: String, _ path: String, body: Data?, contentType: String?, headers: [String: String]
  ) async throws -> (status: Int, chunks: AsyncThrowingStream<Data, any Error>) {
    let request = session.streamRequest(
      try Self.url(path), method: Self.method(method), headers: Self.fields(contentType, headers),
      body: body.map { .data($0) })
    do {
      let head = try await withTaskCancellationHandler {
        try await request.responseHead()
      } onCancel: {
        request.cancel()
      }
      return (head.status, Self.translating(request.streamingData()))
    } catch {
      throw Self.lost(error)
    }
  }

  /// The same chunks; an answer that is cut off is a daemon that went away.
  private static func translating(
    _ chunks: AsyncThrowingStream<Data, any Error>
  ) -> AsyncThrowingStream<Data, any Error> {
    let (translated, continuation) = AsyncThrowingStream<Data, any Error>.makeStream()
    let pump = Task {
      do {
        for try await chunk in chunks { continuation.yield(chunk) }
        continuation.finish()
      } catch {
        continuation.finish(throwing: lost(error))
      }
    }
    continuation.onTermination = { _ in pump.cancel() }
    return translated
  }

  private static func url(_ path: String) throws -> RequestURL { try RequestURL("http://transferd" + path) }

  private static func method(_ name: String) -> HTTPRequest.Method { HTTPRequest.Method(name) ?? .get }

  private static func fields(_ contentType: String?, _ others: [String: String]) -> HTTPFields {
    var fields = HTTPFields()
    if let contentType { fields[.contentType] = contentType }
    for (name, value) in others {
      if let name = HTTPField.Name(name) { fields[name] = value }
    }
    return fields
  }

  /// Nothing but a daemon that is not there, or that went away, can go wrong on a socket of this machine.
  private static func lost(_ error: any Error) -> ControlError {
    .unreachable("transferd does not answer: \(error)")
  }
}
