import Synchronization

/// What every request handle is built around: its state, its one task, and those who wait for its outcome. The handles
/// (`DownloadRequest`, …) are thin; there is no base class.
final class RequestCore<Output: Sendable>: Sendable {
  let id: RequestID
  let session: Session
  private let work: @Sendable (RequestCore<Output>) async -> Output
  private let state: Mutex<State>

  private struct State {
    var state = RequestState.initialized
    var task: Task<Void, Never>?
    var output: Output?
    var waiters: [CheckedContinuation<Output, Never>] = []
    /// Pipelines that wait for `resume()` after `suspend()`.
    var suspended: [CheckedContinuation<Void, Never>] = []
    var progress = TransferProgress()
    var observers: [@Sendable (TransferProgress) -> Void] = []
    /// Stops the transfer that runs now, for `suspend()`.
    var interrupt: (@Sendable () -> Void)?
  }

  init(session: Session, work: @escaping @Sendable (RequestCore<Output>) async -> Output) {
    id = session.nextRequestID()
    self.session = session
    self.work = work
    state = Mutex(State())
  }

  var requestState: RequestState { state.withLock { $0.state } }
  var progress: TransferProgress { state.withLock { $0.progress } }
  var output: Output? { state.withLock { $0.output } }

  @discardableResult
  private func transition(to next: RequestState) -> Bool {
    state.withLock { state in
      guard state.state.canTransition(to: next) else { return false }
      state.state = next
      return true
    }
  }

  func resume() {
    guard transition(to: .resumed) else { return }
    session.notify(id, .resume)
    let waiting = state.withLock { state in
      if state.task == nil {
        state.task = Task { await self.run() }
      }
      defer { state.suspended = [] }
      return state.suspended
    }
    for continuation in waiting { continuation.resume() }
  }

  func suspend() {
    guard transition(to: .suspended) else { return }
    session.notify(id, .suspend)
    state.withLock { $0.interrupt }?()
  }

  func cancel() {
    guard transition(to: .cancelled) else { return }
    session.notify(id, .cancel)
    let (task, waiting) = state.withLock { state in
      // A request that was never started still owes its waiters an outcome.
      if state.task == nil { state.task = Task { await self.run() } }
      defer { state.suspended = [] }
      return (state.task, state.suspended)
    }
    task?.cancel()
    for continuation in waiting { continuation.resume() }
  }

  private func run() async {
    if requestState == .cancelled { withUnsafeCurrentTask { $0?.cancel() } }
    let output = await work(self)
    let waiters = state.withLock { state in
      state.output = output
      if state.state.canTransition(to: .finished) { state.state = .finished }
      state.interrupt = nil
      state.observers = []
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume(returning: output) }
  }

  /// The outcome; starts the request if the session starts requests by itself. Many may wait.
  func value() async -> Output {
    if session.configuration.startsRequestsImmediately, requestState == .initialized { resume() }
    return await withCheckedContinuation { continuation in
      let output = state.withLock { state -> Output? in
        if state.output == nil { state.waiters.append(continuation) }
        return state.output
      }
      if let output { continuation.resume(returning: output) }
    }
  }

  // MARK: For the pipeline

  /// Returns at once unless suspended.
  func waitWhileSuspended() async {
    await withCheckedContinuation { continuation in
      let mustWait = state.withLock { state in
        guard state.state == .suspended else { return false }
        state.suspended.append(continuation)
        return true
      }
      if !mustWait { continuation.resume() }
    }
  }

  /// What `suspend()` calls while a transfer runs; called at once when already suspended.
  func setInterrupt(_ interrupt: (@Sendable () -> Void)?) {
    let isSuspended = state.withLock { state in
      state.interrupt = interrupt
      return state.state == .suspended
    }
    if isSuspended { interrupt?() }
  }

  func report(_ progress: TransferProgress) {
    let observers = state.withLock { state in
      state.progress = progress
      return state.observers
    }
    for observer in observers { observer(progress) }
  }

  func observeProgress(_ observer: @escaping @Sendable (TransferProgress) -> Void) {
    state.withLock { $0.observers.append(observer) }
  }
}

/// How far a request is.
public struct TransferProgress: Sendable, Equatable {
  /// Bytes that are there: of a download, in the file.
  public var completed: Int64 = 0
  /// `nil` while unknown.
  public var total: Int64?

  public init(completed: Int64 = 0, total: Int64? = nil) {
    self.completed = completed
    self.total = total
  }
}
