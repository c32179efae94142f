public import Dispatch
public import FoundationEssentials

extension DataStreamRequest {
  /// Called with every value in order, and with the end. An error that it throws cancels the request, which then fails with
  /// that error.
  public typealias Handler<Success: Sendable, Failure: Error> = @Sendable (Stream<Success, Failure>) throws -> Void

  /// One event of a stream, and the means to cancel the request.
  public struct Stream<Success: Sendable, Failure: Error>: Sendable {
    /// What happened.
    public let event: Event<Success, Failure>
    /// Cancels the request.
    public let token: CancellationToken

    /// Cancels the request.
    public func cancel() { token.cancel() }

    /// The value or the error of this event; `nil` for the end.
    public var result: Result<Success, Failure>? { if case .stream(let result) = event { result } else { nil } }
    /// The value; `nil` for an error and for the end.
    public var value: Success? { try? result?.get() }
    /// The error of this value; `nil` for a value and for the end.
    public var error: Failure? { result?.failure }
    /// How the stream ended; `nil` for events before the end.
    public var completion: StreamCompletion? {
      if case .complete(let completion) = event { completion } else { nil }
    }
  }

  /// A value, or the end.
  public enum Event<Success: Sendable, Failure: Error>: Sendable {
    /// A value, or why a piece of the body could not be serialized.
    case stream(Result<Success, Failure>)
    /// The last event.
    case complete(StreamCompletion)
  }

  /// Cancels a request; usable from anywhere.
  public struct CancellationToken: Sendable {
    let core: RequestCore<StreamOutcome>

    /// Cancels the request. Pieces that have arrived may still be delivered.
    public func cancel() { core.cancel() }
  }

  /// Calls the handler with every piece of the body, as it arrives and in order, and with the end.
  ///
  /// All handlers get every piece, in the order in which they were added. The next piece is read when all have returned, so
  /// a slow handler slows the server down.
  /// - Parameter queue: where the handler is called; `nil` calls it on one of Swift's threads.
  @discardableResult public func responseStream(
    on queue: DispatchQueue? = nil, stream: @escaping Handler<Data, Never>
  ) -> Self {
    add(.data, queue, stream)
  }

  /// Calls the handler with the values that a serializer makes of the body.
  /// - Parameter framing: what the serializer gets: pieces as they arrive, or whole lines.
  @discardableResult public func responseStream<Serializer: DataStreamSerializer>(
    using serializer: Serializer, framing: StreamFraming = .pieces, on queue: DispatchQueue? = nil,
    stream: @escaping Handler<Serializer.SerializedObject, TransferError>
  ) -> Self {
    add(StreamParser(serializer, framing, core.record), queue, stream)
  }

  /// Calls the handler with the body as UTF-8 text. A character that arrives in two pieces is delivered whole.
  @discardableResult public func responseStreamString(
    on queue: DispatchQueue? = nil, stream: @escaping Handler<String, Never>
  ) -> Self {
    add(.string, queue, stream)
  }

  /// Calls the handler with decoded values.
  /// - Parameter framing: what is decoded: pieces as they arrive, or whole lines (newline-delimited JSON).
  @discardableResult public func responseStreamDecodable<Value: Decodable & Sendable>(
    of type: Value.Type = Value.self, framing: StreamFraming = .pieces, on queue: DispatchQueue? = nil,
    using decoder: any DataDecoder = JSONDecoder(), stream: @escaping Handler<Value, TransferError>
  ) -> Self {
    responseStream(
      using: DecodableStreamSerializer<Value>(decoder: decoder), framing: framing, on: queue, stream: stream)
  }

  private func add<Success, Failure>(
    _ parser: StreamParser<Success, Failure>, _ queue: DispatchQueue?, _ handler: @escaping Handler<Success, Failure>
  ) -> Self {
    let core = core
    let token = CancellationToken(core: core)
    let cancelsOnError = automaticallyCancelOnStreamError
    let call: @Sendable (Event<Success, Failure>) -> Void = { event in
      do {
        try handler(Stream(event: event, token: token))
      } catch {
        core.cancel(dueTo: .of(.streamHandler, error), producingResumeData: false)
      }
    }
    let send: @Sendable ([Event<Success, Failure>]) async -> Void = { events in
      for event in events {
        if cancelsOnError, case .stream(.failure) = event { core.cancel() }
        await Handlers.call(call, with: event, on: queue)
      }
    }
    handlers.add { piece in
      switch piece {
      case .data(let data): await send(parser.events(data))
      case .end(let completion):
        if completion.error == nil { await send(parser.events(nil)) }
        await send([.complete(completion)])
      }
    }
    core.startIfWanted()
    if core.requestState != .initialized { handlers.start(core, channel) }
    return self
  }
}
