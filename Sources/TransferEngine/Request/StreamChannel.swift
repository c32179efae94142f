import FoundationEssentials
import Synchronization
import WireValues

/// What lies between the transfer loop, which fills, and one reader, which empties. A slow reader slows the server down: no
/// more than `highWater` bytes wait, then the transfer is paused.
final class StreamChannel: Sendable {
  static let highWater = 1 << 20

  typealias Reader = CheckedContinuation<Result<Data?, TransferError>, Never>
  typealias HeadReader = CheckedContinuation<Result<ResponseHead, TransferError>, Never>

  fileprivate struct State {
    var head: ResponseHead?
    var headReaders: [HeadReader] = []
    var buffer = Data()
    var isEnded = false
    var error: TransferError?
    var reader: Reader?
    var isPaused = false
    /// Somebody has seen something of this answer: it cannot be replaced by another.
    var isHandedOut = false
    /// Readers wait until it is decided whether another answer replaces this one.
    var isHeld = false
    var isClaimed = false
    /// Lets the transfer that fills go on.
    var unpause: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())

  // MARK: Filling

  func attach(unpause: @escaping @Sendable () -> Void) {
    state.withLock { state in
      state.unpause = unpause
      state.isPaused = false
    }
  }

  func take(_ head: ResponseHead) {
    let readers = state.withLock { state in
      state.head = head
      if !state.headReaders.isEmpty { state.isHandedOut = true }
      defer { state.headReaders = [] }
      return state.headReaders
    }
    for reader in readers { reader.resume(returning: .success(head)) }
  }

  func take(_ bytes: UnsafeRawBufferPointer) -> BodyVerdict {
    let (verdict, reader) = state.withLock { state -> (BodyVerdict, Reader?) in
      if let reader = state.reader {
        state.reader = nil
        state.isHandedOut = true
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

  /// Makes readers wait, if nobody has seen anything yet; false where somebody has.
  func hold() -> Bool {
    state.withLock { state in
      guard !state.isHandedOut else { return false }
      state.isHeld = true
      return true
    }
  }

  /// Forgets what came, for another answer comes.
  func restart() {
    state.withLock { state in
      state.head = nil
      state.buffer = Data()
      state.isHeld = false
    }
  }

  func end(_ error: TransferError?) {
    let outcome: Result<Data?, TransferError> = error.map { .failure($0) } ?? .success(nil)
    let (readers, head, reader, last) = state.withLock { state in
      state.isEnded = true
      state.isHeld = false
      state.error = error
      state.unpause = nil
      let reader = state.reader
      let last = reader == nil || state.buffer.isEmpty ? outcome : .success(state.takeBuffer())
      state.reader = nil
      defer { state.headReaders = [] }
      return (state.headReaders, state.headResult, reader, last)
    }
    for reader in readers { reader.resume(returning: head) }
    reader?.resume(returning: last)
  }

  // MARK: Emptying

  /// One reader alone may empty the channel.
  func claim() -> Bool {
    state.withLock { state in
      defer { state.isClaimed = true }
      return !state.isClaimed
    }
  }

  func head() async -> Result<ResponseHead, TransferError> {
    await withCheckedContinuation { continuation in
      let known = state.withLock { state -> Result<ResponseHead, TransferError>? in
        if state.isEnded { return state.headResult }
        guard let head = state.head, !state.isHeld else {
          state.headReaders.append(continuation)
          return nil
        }
        state.isHandedOut = true
        return .success(head)
      }
      if let known { continuation.resume(returning: known) }
    }
  }

  /// The next piece; `nil` at the end.
  func next() async -> Result<Data?, TransferError> {
    await withCheckedContinuation { continuation in
      let (known, unpause) = state.withLock { state -> (Result<Data?, TransferError>?, (@Sendable () -> Void)?) in
        guard state.reader == nil else { return (.failure(.body(.alreadyRead)), nil) }
        let unpause = state.isPaused && !state.isHeld ? state.unpause : nil
        if unpause != nil { state.isPaused = false }
        if !state.isHeld, !state.buffer.isEmpty { return (.success(state.takeBuffer()), unpause) }
        if state.isEnded { return (state.error.map { .failure($0) } ?? .success(nil), nil) }
        state.reader = continuation
        return (nil, unpause)
      }
      if let known { continuation.resume(returning: known) }
      unpause?()
    }
  }
}

extension StreamChannel.State {
  fileprivate mutating func takeBuffer() -> Data {
    defer { buffer = Data() }
    isHandedOut = true
    return buffer
  }

  fileprivate var headResult: Result<ResponseHead, TransferError> {
    head.map { .success($0) } ?? .failure(error ?? .connection(.broken("no answer")))
  }
}

/// Passes one hop's answer on to the channel, unless it is a redirect or the user refuses it.
///
/// `@unchecked Sendable`: touched on the transfer loop's thread while the transfer runs and read after it; the loop's
/// continuation stands between the two.
final class StreamReceiver: TransferReceiver, @unchecked Sendable {
  private let channel: StreamChannel
  private let check: @Sendable (ResponseHead) -> TransferError?
  private let progressed: @Sendable (TransferProgress) -> Void
  private var received: Int64 = 0
  private var total: Int64?
  /// Why the user does not want this answer.
  private(set) var refusal: TransferError?

  init(
    _ channel: StreamChannel, check: @escaping @Sendable (ResponseHead) -> TransferError?,
    progressed: @escaping @Sendable (TransferProgress) -> Void
  ) {
    self.channel = channel
    self.check = check
    self.progressed = progressed
  }

  func receive(_ head: ResponseHead) throws(TransferError) -> HeadVerdict {
    // Whether it is followed is decided after it; the few words of its body are for nobody.
    if head.isRedirect, head.headers[.location] != nil { return .dropBody }
    refusal = check(head)
    guard refusal == nil else { return .dropBody }
    total = (try? head.contentLength()) ?? nil
    channel.take(head)
    return .takeBody
  }

  func receive(_ bytes: UnsafeRawBufferPointer) throws(TransferError) -> BodyVerdict {
    let verdict = channel.take(bytes)
    if case .taken = verdict {
      received = received.saturatingSum(Int64(bytes.count))
      progressed(TransferProgress(completed: received, total: total))
    }
    return verdict
  }
}
