public import FoundationEssentials
import Synchronization

/// A request whose answer is taken piece by piece, as it arrives; serves server-sent events and endless bodies.
///
/// A slow reader slows the server down: no more than `highWater` bytes wait, then the transfer is paused.
public final class DataStreamRequest: Sendable {
  let core: RequestCore<TransferError?>
  private let channel: StreamChannel

  init(core: RequestCore<TransferError?>, channel: StreamChannel) {
    self.core = core
    self.channel = channel
  }

  public var id: RequestID { core.id }
  public var state: RequestState { core.requestState }

  @discardableResult public func cancel() -> Self {
    core.cancel()
    return self
  }

  /// Starts the request and waits for the response's head.
  public func responseHead() async throws(TransferError) -> ResponseHead {
    core.resume()
    return try await channel.head().get()
  }

  /// The body's pieces. To be iterated once; leaving the loop cancels the request.
  public func chunks() -> AsyncThrowingStream<Data, any Error> {
    core.resume()
    let guardian = StreamGuardian(core)
    let channel = channel
    return AsyncThrowingStream {
      guardian.touch()
      return try await withTaskCancellationHandler {
        try await channel.next().get()
      } onCancel: {
        guardian.cancel()
      }
    }
  }
}

/// Cancels the request when the stream that holds it is dropped.
private final class StreamGuardian: Sendable {
  private let core: RequestCore<TransferError?>
  init(_ core: RequestCore<TransferError?>) { self.core = core }
  func touch() {}
  func cancel() { core.cancel() }
  deinit { core.cancel() }
}

/// What lies between the transfer loop, which fills, and one reader, which empties.
final class StreamChannel: TransferReceiver, Sendable {
  /// Bytes that may wait for the reader.
  static let highWater = 1 << 20

  private struct State {
    var head: Result<ResponseHead, TransferError>?
    var headWaiters: [CheckedContinuation<Result<ResponseHead, TransferError>, Never>] = []
    var buffer = Data()
    var isEnded = false
    var error: TransferError?
    var reader: CheckedContinuation<Result<Data?, TransferError>, Never>?
    var isPaused = false
  }

  private let state = Mutex(State())
  /// Lets the transfer go on; set before it begins.
  private let unpause: @Sendable () -> Void

  init(unpause: @escaping @Sendable () -> Void) { self.unpause = unpause }

  func receive(_ head: ResponseHead) throws(TransferError) -> HeadVerdict {
    let waiters = state.withLock { state in
      state.head = .success(head)
      defer { state.headWaiters = [] }
      return state.headWaiters
    }
    for waiter in waiters { waiter.resume(returning: .success(head)) }
    return .takeBody
  }

  func receive(_ bytes: UnsafeRawBufferPointer) throws(TransferError) -> BodyVerdict {
    let (verdict, reader) = state.withLock {
      state -> (BodyVerdict, CheckedContinuation<Result<Data?, TransferError>, Never>?) in
      if let reader = state.reader {
        state.reader = nil
        return (.taken, reader)
      }
      guard state.buffer.count < Self.highWater else {
        state.isPaused = true
        return (.pause, nil)
      }
      state.buffer.append(contentsOf: bytes)
      return (.taken, nil)
    }
    reader?.resume(returning: .success(Data(bytes)))
    return verdict
  }

  func end(_ error: TransferError?) {
    let (waiters, reader) = state.withLock { state in
      state.isEnded = true
      state.error = error
      let reader = state.reader
      state.reader = nil
      defer { state.headWaiters = [] }
      if state.head == nil { state.head = .failure(error ?? .connection(.broken("no answer"))) }
      return (state.headWaiters, reader)
    }
    for waiter in waiters { waiter.resume(returning: .failure(error ?? .connection(.broken("no answer")))) }
    reader?.resume(returning: error.map { .failure($0) } ?? .success(nil))
  }

  func head() async -> Result<ResponseHead, TransferError> {
    await withCheckedContinuation { continuation in
      let known = state.withLock { state in
        if state.head == nil { state.headWaiters.append(continuation) }
        return state.head
      }
      if let known { continuation.resume(returning: known) }
    }
  }

  /// The next piece; `nil` at the end.
  func next() async -> Result<Data?, TransferError> {
    await withCheckedContinuation { continuation in
      let (known, mustUnpause) = state.withLock { state -> (Result<Data?, TransferError>?, Bool) in
        if !state.buffer.isEmpty {
          let data = state.buffer
          state.buffer = Data()
          let wasPaused = state.isPaused
          state.isPaused = false
          return (.success(data), wasPaused)
        }
        if state.isEnded { return (state.error.map { .failure($0) } ?? .success(nil), false) }
        state.reader = continuation
        let wasPaused = state.isPaused
        state.isPaused = false
        return (nil, wasPaused)
      }
      if let known { continuation.resume(returning: known) }
      if mustUnpause { unpause() }
    }
  }
}
