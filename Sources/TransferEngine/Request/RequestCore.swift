import Synchronization

/// What a request's outcome brings along.
protocol RequestOutput: Sendable {
  /// The checks that its users may add.
  associatedtype Validation: Sendable
}

/// What every request handle is built around: its state, its one task, those who wait for its outcome, and what its user
/// wants of it. The handles (`DownloadRequest`, …) are thin; there is no base class.
final class RequestCore<Output: RequestOutput>: RequestSteering {
  typealias Handler = @Sendable (Output) async -> Void

  let id: RequestID
  let session: Session
  private let work: @Sendable (RequestCore<Output>) async -> Output
  private let state: Mutex<State>

  private struct State {
    var state = RequestState.initialized
    var task: Task<Void, Never>?
    var output: Output?
    var waiters: [CheckedContinuation<Output, Never>] = []
    /// Called with the outcome, one after the other, in the order they came.
    var handlers: [Handler] = []
    var isHandling = false
    /// Pipelines that wait for `resume()` after `suspend()`.
    var suspended: [CheckedContinuation<Void, Never>] = []
    var download = Tracked()
    var upload = Tracked()
    /// Holds and releases the transfer that runs now.
    var hold: (@Sendable () -> Void)?
    var release: (@Sendable () -> Void)?
    var validations: [Output.Validation] = []
    var redirectHandler: (any RedirectHandler)?
    var credential: HTTPCredential?
    var lastRequest: TransferRequest?
    var retryCount = 0
    /// What was cancelled is not wanted any more.
    var isDiscarding = false
  }

  private struct Tracked {
    var progress = TransferProgress()
    var observers: [ProgressObserver] = []
  }

  init(session: Session, work: @escaping @Sendable (RequestCore<Output>) async -> Output) {
    id = session.nextRequestID()
    self.session = session
    self.work = work
    state = Mutex(State())
  }

  var requestState: RequestState { state.withLock { $0.state } }
  var output: Output? { state.withLock { $0.output } }
  var lastRequest: TransferRequest? { state.withLock { $0.lastRequest } }
  var retryCount: Int { state.withLock { $0.retryCount } }

  // MARK: States

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
    let (waiting, release) = state.withLock { state in
      startTask(&state)
      defer { state.suspended = [] }
      return (state.suspended, state.release)
    }
    for continuation in waiting { continuation.resume() }
    release?()
  }

  func suspend() {
    guard transition(to: .suspended) else { return }
    session.notify(id, .suspend)
    state.withLock { $0.hold }?()
  }

  func cancel() {
    guard transition(to: .cancelled) else { return }
    session.notify(id, .cancel)
    let (task, waiting) = state.withLock { state in
      // A request that was never started still owes its waiters an outcome.
      startTask(&state)
      defer { state.suspended = [] }
      return (state.task, state.suspended)
    }
    task?.cancel()
    for continuation in waiting { continuation.resume() }
  }

  private func startTask(_ state: inout State) {
    guard state.task == nil else { return }
    session.active.insert(self)
    state.task = Task { await self.run() }
  }

  /// Starts the request if its session starts requests by itself, now that somebody asked for the outcome.
  func startIfWanted() {
    if session.configuration.startRequestsImmediately, requestState == .initialized { resume() }
  }

  private func run() async {
    if requestState == .cancelled { withUnsafeCurrentTask { $0?.cancel() } }
    let output = await work(self)
    let (waiters, observers, mustHandle) = state.withLock { state in
      state.output = output
      if state.state.canTransition(to: .finished) { state.state = .finished }
      state.hold = nil
      state.release = nil
      let observers = state.download.observers + state.upload.observers
      state.download.observers = []
      state.upload.observers = []
      let mustHandle = !state.handlers.isEmpty
      state.isHandling = mustHandle
      defer { state.waiters = [] }
      return (state.waiters, observers, mustHandle)
    }
    session.active.remove(id)
    for observer in observers { observer.finish() }
    for waiter in waiters { waiter.resume(returning: output) }
    if mustHandle { await handle(output) }
  }

  // MARK: Outcome

  /// The outcome; starts the request if the session starts requests by itself. Many may wait.
  func value() async -> Output {
    startIfWanted()
    return await withCheckedContinuation { continuation in
      let output = state.withLock { state -> Output? in
        if state.output == nil { state.waiters.append(continuation) }
        return state.output
      }
      if let output { continuation.resume(returning: output) }
    }
  }

  func ended() async { _ = await value() }

  /// Calls the handler with the outcome, once, after those that were added before it.
  func respond(_ handler: @escaping Handler) {
    let output = state.withLock { state -> Output? in
      state.handlers.append(handler)
      guard let output = state.output, !state.isHandling else { return nil }
      state.isHandling = true
      return output
    }
    if let output {
      Task { await self.handle(output) }
    } else {
      startIfWanted()
    }
  }

  private func handle(_ output: Output) async {
    while true {
      let next = state.withLock { state -> Handler? in
        guard !state.handlers.isEmpty else {
          state.isHandling = false
          return nil
        }
        return state.handlers.removeFirst()
      }
      guard let next else { return }
      await next(output)
    }
  }

  // MARK: What the user wants

  var validations: [Output.Validation] { state.withLock { $0.validations } }

  func validate(_ validation: Output.Validation) {
    state.withLock { $0.validations.append(validation) }
  }

  var redirectHandler: any RedirectHandler { state.withLock { $0.redirectHandler } ?? session.redirectHandler }

  func setCredential(_ credential: HTTPCredential) {
    state.withLock { $0.credential = credential }
  }

  /// With the credential that the handle was given.
  func authenticated(_ request: TransferRequest) -> TransferRequest {
    guard let credential = state.withLock({ $0.credential }) else { return request }
    var request = request
    request.credential = credential
    return request
  }

  func setRedirectHandler(_ handler: any RedirectHandler) {
    state.withLock { $0.redirectHandler = handler }
  }

  var isDiscarding: Bool { state.withLock { $0.isDiscarding } }

  /// A cancelled download leaves nothing to go on from.
  func discard() { state.withLock { $0.isDiscarding = true } }

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

  /// What `suspend()` and `resume()` call while a transfer runs; `hold` is called at once when already suspended.
  func setTransfer(hold: (@Sendable () -> Void)?, release: (@Sendable () -> Void)? = nil) {
    let isSuspended = state.withLock { state in
      state.hold = hold
      state.release = release
      return state.state == .suspended
    }
    if isSuspended { hold?() }
  }

  func willSend(_ request: TransferRequest) {
    state.withLock { $0.lastRequest = request }
    session.notify(id, .send(request))
    session.reportSkippedTrust(request, id)
  }

  func willRetry() { state.withLock { $0.retryCount += 1 } }

  // MARK: Progress

  func progress(_ direction: ProgressDirection) -> TransferProgress {
    state.withLock { direction == .download ? $0.download.progress : $0.upload.progress }
  }

  func report(_ progress: TransferProgress, _ direction: ProgressDirection = .download) {
    let observers = state.withLock { state in
      switch direction {
      case .download:
        state.download.progress = progress
        return state.download.observers
      case .upload:
        state.upload.progress = progress
        return state.upload.observers
      }
    }
    for observer in observers { observer.tell(progress) }
  }

  /// An observer that comes after the end is told how it ended.
  func observe(_ direction: ProgressDirection, _ observer: ProgressObserver) {
    let last = state.withLock { state -> TransferProgress? in
      switch direction {
      case .download where state.output == nil: state.download.observers.append(observer)
      case .upload where state.output == nil: state.upload.observers.append(observer)
      case .download: return state.download.progress
      case .upload: return state.upload.progress
      }
      return nil
    }
    guard let last else { return }
    if case .stream = observer { observer.tell(last) }
    observer.finish()
  }
}
