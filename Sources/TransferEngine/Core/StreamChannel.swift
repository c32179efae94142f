import FoundationEssentials
import Synchronization
import WireValues

/// The buffer between the transfer loop and the one reader of a stream. A slow reader slows the server down: at most
/// `highWater` bytes wait, then the transfer is paused.
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
    /// A reader has received something of this response: a retry cannot replace it.
    var isHandedOut = false
    /// Readers wait until it is decided whether another attempt follows.
    var isHeld = false
    var isClaimed = false
    /// Continues the transfer that fills the buffer.
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

  /// Makes readers wait, unless a reader has received something; returns false then.
  func hold() -> Bool {
    state.withLock { state in
      guard !state.isHandedOut else { return false }
      state.isHeld = true
      return true
    }
  }

  /// Discards the response of the attempt before, if there was one.
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

  /// Claims the channel for a reader; false if it has one.
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
    head.map { .success($0) } ?? .failure(error ?? .connection(.broken("no response")))
  }
}
