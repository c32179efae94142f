public import Dispatch
public import FoundationEssentials
import Synchronization

extension DataStreamRequest {
  /// Called with every piece in order, and with the end. What it throws cancels the request where the request wants
  /// that.
  public typealias Handler<Success: Sendable, Failure: Error> = @Sendable (Stream<Success, Failure>) throws -> Void

  /// What a handler is told, with the means to end it.
  public struct Stream<Success: Sendable, Failure: Error>: Sendable {
    /// What came.
    public let event: Event<Success, Failure>
    /// Cancels the request.
    public let token: CancellationToken

    /// Ends the request.
    public func cancel() { token.cancel() }
  }

  /// A piece, or the end.
  public enum Event<Success: Sendable, Failure: Error>: Sendable {
    /// A piece of the body, or why it could not be read as what was asked for.
    case stream(Result<Success, Failure>)
    /// The last event.
    case complete(StreamCompletion)
  }

  /// Ends a request from anywhere.
  public struct CancellationToken: Sendable {
    let core: RequestCore<StreamOutcome>

    /// Cancels the request; what has arrived may still be passed on.
    public func cancel() { core.cancel() }
  }

  /// Called with every piece of the body, in order, and with its end. All handlers see every piece, in the order they were
  /// added; the next piece is taken when all of them have returned, so that a slow one slows the server down.
  @discardableResult public func responseStream(
    on queue: DispatchQueue? = nil, stream: @escaping Handler<Data, Never>
  ) -> Self {
    add(queue) { data in
      data.map { [.stream(.success($0))] } ?? []
    } handler: {
      try stream($0)
    }
  }

  /// Called with what a serializer makes of every line of the body.
  @discardableResult public func responseStream<Serializer: DataStreamSerializer>(
    using serializer: Serializer, on queue: DispatchQueue? = nil,
    stream: @escaping Handler<Serializer.SerializedObject, TransferError>
  ) -> Self {
    let lines = Mutex(BodyLines())
    return add(queue) { data in
      do throws(TransferError) {
        return try lines.withLock { lines throws(TransferError) in try lines.take(data) }
          .map { line in .stream(Handlers.serialize { try serializer.serialize(line) }.0) }
      } catch {
        return [.stream(.failure(error))]
      }
    } handler: {
      try stream($0)
    }
  }

  /// Called with the body as UTF-8 text, cut between characters.
  @discardableResult public func responseStreamString(
    on queue: DispatchQueue? = nil, stream: @escaping Handler<String, Never>
  ) -> Self {
    let assembler = Mutex(UTF8Assembler())
    return add(queue) { data in
      let text = assembler.withLock { assembler in data.map { assembler.append($0) } ?? assembler.finish() }
      return text.isEmpty ? [] : [.stream(.success(text))]
    } handler: {
      try stream($0)
    }
  }

  /// Called with every line of the body, decoded.
  @discardableResult public func responseStreamDecodable<Value: Decodable & Sendable>(
    of type: Value.Type = Value.self, on queue: DispatchQueue? = nil, using decoder: any DataDecoder = JSONDecoder(),
    stream: @escaping Handler<Value, TransferError>
  ) -> Self {
    responseStream(using: DecodableStreamSerializer<Value>(decoder: decoder), on: queue, stream: stream)
  }

  /// - Parameter events: what a piece becomes; `nil` stands for the body's end.
  private func add<Success, Failure>(
    _ queue: DispatchQueue?, events: @escaping @Sendable (Data?) -> [Event<Success, Failure>],
    handler: @escaping Handler<Success, Failure>
  ) -> Self {
    let token = CancellationToken(core: core)
    let cancelsOnError = automaticallyCancelOnStreamError
    let tell: @Sendable (Event<Success, Failure>) -> Void = { event in
      do {
        try handler(Stream(event: event, token: token))
      } catch {
        if cancelsOnError { token.cancel() }
      }
    }
    handlers.add { piece in
      switch piece {
      case .data(let data):
        for event in events(data) { await Handlers.call(tell, with: event, on: queue) }
      case .end(let completion):
        if completion.error == nil {
          for event in events(nil) { await Handlers.call(tell, with: event, on: queue) }
        }
        await Handlers.call(tell, with: .complete(completion), on: queue)
      }
    }
    core.startIfWanted()
    if core.requestState != .initialized { handlers.start(core, channel) }
    return self
  }
}

/// The handlers of a stream, and the task that reads it for them.
final class StreamHandlers: Sendable {
  enum Piece: Sendable {
    case data(Data)
    case end(StreamCompletion)
  }

  typealias Handler = @Sendable (Piece) async -> Void

  private struct State {
    var handlers: [Handler] = []
    var isReading = false
  }

  private let state = Mutex(State())

  func add(_ handler: @escaping Handler) { state.withLock { $0.handlers.append(handler) } }

  /// Begins to read, once, if anybody wants to hear.
  func start(_ core: RequestCore<StreamOutcome>, _ channel: StreamChannel) {
    let mustRead = state.withLock { state in
      guard !state.isReading, !state.handlers.isEmpty else { return false }
      state.isReading = true
      return true
    }
    guard mustRead else { return }
    let isFirst = channel.claim()
    Task {
      while isFirst, case .success(let data?) = await channel.next() { await self.tell(.data(data)) }
      var completion = await core.value().completion
      if !isFirst { completion.error = .body(.alreadyRead) }
      await self.tell(.end(completion))
    }
  }

  private func tell(_ piece: Piece) async {
    for handler in state.withLock({ $0.handlers }) { await handler(piece) }
  }
}
