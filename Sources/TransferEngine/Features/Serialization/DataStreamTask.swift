public import FoundationEssentials
import Synchronization

/// A stream's events as asynchronous sequences. The body can be read once: a second sequence gets only the end, with the
/// error `.body(.alreadyRead)`. A slow reader slows the server down.
public struct DataStreamTask: Sendable {
  /// One event of a stream.
  public typealias Stream<Success: Sendable, Failure: Error> = DataStreamRequest.Stream<Success, Failure>

  private let request: DataStreamRequest

  init(_ request: DataStreamRequest) { self.request = request }

  /// The body's pieces as they arrive.
  /// - Parameter shouldAutomaticallyCancel: dropping the sequence, or cancelling the task that iterates it, cancels the
  ///   request.
  public func streamingData(
    automaticallyCancelling shouldAutomaticallyCancel: Bool = true
  ) -> AsyncStream<Stream<Data, Never>> {
    stream(.data, shouldAutomaticallyCancel)
  }

  /// The body as UTF-8 text. A character that arrives in two pieces is delivered whole.
  public func streamingStrings(
    automaticallyCancelling shouldAutomaticallyCancel: Bool = true
  ) -> AsyncStream<Stream<String, Never>> {
    stream(.string, shouldAutomaticallyCancel)
  }

  /// Decoded values.
  /// - Parameter framing: what is decoded: pieces as they arrive, or whole lines.
  public func streamingDecodables<Value: Decodable & Sendable>(
    _ type: Value.Type = Value.self, automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
    decoder: any DataDecoder = JSONDecoder(), framing: StreamFraming = .pieces
  ) -> AsyncStream<Stream<Value, TransferError>> {
    streamingResponses(
      serializedUsing: DecodableStreamSerializer<Value>(decoder: decoder),
      automaticallyCancelling: shouldAutomaticallyCancel, framing: framing)
  }

  /// The values that a serializer makes of the body.
  /// - Parameter framing: what the serializer gets: pieces as they arrive, or whole lines.
  public func streamingResponses<Serializer: DataStreamSerializer>(
    serializedUsing serializer: Serializer, automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
    framing: StreamFraming = .pieces
  ) -> AsyncStream<Stream<Serializer.SerializedObject, TransferError>> {
    stream(StreamParser(serializer, framing, request.core.record), shouldAutomaticallyCancel)
  }

  /// Starts the request, or continues it after `suspend()`.
  public func resume() { request.resume() }
  /// Suspends the request.
  public func suspend() { request.suspend() }
  /// Cancels the request.
  public func cancel() { request.cancel() }

  private struct Progress<Success: Sendable, Failure: Error>: Sendable {
    var events: [DataStreamRequest.Event<Success, Failure>] = []
    var isComplete = false

    mutating func next() -> DataStreamRequest.Event<Success, Failure>? { events.isEmpty ? nil : events.removeFirst() }
  }

  private func stream<Success, Failure>(
    _ parser: StreamParser<Success, Failure>, _ isCancelling: Bool
  ) -> AsyncStream<Stream<Success, Failure>> {
    let request = request
    let reading = StreamReading(request, cancelling: isCancelling)
    let progress = Mutex(Progress<Success, Failure>())
    let token = DataStreamRequest.CancellationToken(core: request.core)
    let cancelsOnError = request.automaticallyCancelOnStreamError
    return AsyncStream {
      while true {
        let (next, isComplete) = progress.withLock { ($0.next(), $0.isComplete) }
        if let next {
          if cancelsOnError, case .stream(.failure) = next { request.cancel() }
          return Stream(event: next, token: token)
        }
        if isComplete { return nil }
        var failure: TransferError?
        do throws(TransferError) {
          if let data = try await reading.next() {
            progress.withLock { $0.events = parser.events(data) }
            continue
          }
        } catch {
          failure = error
        }
        var completion: StreamCompletion
        if case .body(.alreadyRead)? = failure {
          completion = StreamCompletion(request: request.request, response: nil, metrics: [], error: failure)
        } else {
          completion = await request.core.value().completion
        }
        completion.error = completion.error ?? failure
        var last: [DataStreamRequest.Event<Success, Failure>] = completion.error == nil ? parser.events(nil) : []
        last.append(.complete(completion))
        progress.withLock { [last] progress in
          progress.events = last
          progress.isComplete = true
        }
      }
    }
  }
}
