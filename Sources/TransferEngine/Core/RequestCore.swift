import Synchronization

/// The state of one request, shared by its handle and its pipeline: the request's state, its task, its outcome and those
/// who wait for it, its handlers and its validations. The handles (`DownloadRequest`, …) only forward to it.
final class RequestCore<Output: RequestOutput>: AnyRequestCore {
  typealias Handler = @Sendable (Output) async -> Void

  let record: RequestRecord
  private let work: @Sendable (RequestCore<Output>) async -> Output
  private let state = Mutex(State())

  private struct State {
    var state = RequestState.initialized
    var task: Task<Void, Never>?
    var output: Output?
    var waiters: [CheckedContinuation<Output, Never>] = []
    /// Called with the outcome, one after the other, in the order they were added.
    var handlers: [Handler] = []
    var isHandling = false
    /// Pipelines that wait for `resume()` after `suspend()`.
    var suspended: [CheckedContinuation<Void, Never>] = []
    private var download = Tracked()
    private var upload = Tracked()
    /// Hold and release the running transfer.
    var hold: (@Sendable () -> Void)?
    var release: (@Sendable () -> Void)?
    var validations: [Output.Validation] = []
    var redirectHandler: (any RedirectHandler)?
    var credential: HTTPCredential?
    var retryCount = 0
    /// The error that the request ends with, if the engine cancelled it.
    var cancellationCause: TransferError?
    /// A cancelled download deletes its part file.
    var isDiscarding = false
    weak var handle: (any Request)?
    /// The handle while the request runs: its user's closures may refer to it unowned.
    var retainedHandle: (any Request)?

    /// The progress in one direction, and who observes it.
    subscript(direction: ProgressDirection) -> Tracked {
      get { direction == .download ? download : upload }
      _modify { if direction == .download { yield &download } else { yield &upload } }
    }
  }

  private struct Tracked {
    var progress = TransferProgress()
    var observers: [ValueObserver<TransferProgress>] = []
  }

  /// - Parameter id: the id under which events were reported before this core existed; `nil` for a new one.
  init(session: Session, id: RequestID? = nil, work: @escaping @Sendable (RequestCore<Output>) async -> Output) {
    record = RequestRecord(id: id ?? session.nextRequestID(), session: session)
    self.work = work
  }

  /// The handle of this request. It stays alive from the request's start until its last handler has returned.
  func attach(_ handle: any Request) { state.withLock { $0.handle = handle } }

  var handle: (any Request)? { state.withLock { $0.handle } }
  var requestState: RequestState { state.withLock { $0.state } }
  var output: Output? { state.withLock { $0.output } }
  var retryCount: Int { state.withLock { $0.retryCount } }
  var cancellationCause: TransferError? { state.withLock { $0.cancellationCause } }

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
    record.notify(.resume)
    let (waiting, release) = state.withLock { state in
      startTask(&state)
      defer { state.suspended = [] }
      return (state.suspended, state.release)
    }
    for continuation in waiting { continuation.resume() }
    release?()
  }

  /// Starts the task of a request whose first transfer is already running. Its start was reported then.
  func startAdopted() {
    guard transition(to: .resumed) else { return }
    state.withLock { startTask(&$0) }
  }

  func suspend() {
    guard transition(to: .suspended) else { return }
    record.notify(.suspend)
    state.withLock { $0.hold }?()
  }

  func cancel(dueTo cause: TransferError?, producingResumeData: Bool) {
    let isCancelled = state.withLock { state in
      if state.cancellationCause == nil { state.cancellationCause = cause }
      guard state.state.canTransition(to: .cancelled) else { return false }
      state.state = .cancelled
      state.isDiscarding = !producingResumeData
      return true
    }
    guard isCancelled else { return }
    record.notify(.cancel)
    let (task, waiting) = state.withLock { state in
      // The waiters of a request that never started need an outcome too.
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
    state.retainedHandle = state.handle
    state.task = Task { await self.run() }
  }

  /// Starts the request when its outcome is asked for, unless its session leaves that to `resume()`.
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
      let observers = state[.download].observers + state[.upload].observers
      state[.download].observers = []
      state[.upload].observers = []
      let mustHandle = !state.handlers.isEmpty
      state.isHandling = mustHandle
      defer { state.waiters = [] }
      return (state.waiters, observers, mustHandle)
    }
    session.active.remove(id)
    record.didEndRequest()
    for observer in observers { observer.finish() }
    for waiter in waiters { waiter.resume(returning: output) }
    if mustHandle { await handle(output) }
    releaseHandle()
  }

  private func releaseHandle() {
    let handle = state.withLock { state in
      defer { state.retainedHandle = nil }
      return state.retainedHandle
    }
    // Released here, after the lock.
    withExtendedLifetime(handle) {}
  }

  // MARK: Outcome

  /// The outcome. Starts the request if its session starts requests automatically. Several tasks may wait.
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

  /// Calls the handler with the outcome, once, after the handlers that were added before it.
  func respond(_ handler: @escaping Handler) {
    let (output, handle) = state.withLock { state -> (Output?, (any Request)?) in
      state.handlers.append(handler)
      guard let output = state.output, !state.isHandling else { return (nil, nil) }
      state.isHandling = true
      return (output, state.handle)
    }
    if let output {
      Task {
        await self.handle(output)
        withExtendedLifetime(handle) {}
      }
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

  // MARK: Settings of the handle

  var validations: [Output.Validation] { state.withLock { $0.validations } }

  func validate(_ validation: Output.Validation) {
    state.withLock { $0.validations.append(validation) }
  }

  var redirectHandler: any RedirectHandler { state.withLock { $0.redirectHandler } ?? session.redirectHandler }

  func setCredential(_ credential: HTTPCredential) {
    state.withLock { $0.credential = credential }
  }

  /// The request with the credential that was given to the handle.
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

  // MARK: Called by the pipelines

  /// Waits for `resume()` if the request is suspended.
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

  /// Sets what `suspend()` and `resume()` call while a transfer runs. Calls `hold` if the request is suspended already.
  func setTransfer(hold: (@Sendable () -> Void)?, release: (@Sendable () -> Void)? = nil) {
    let isSuspended = state.withLock { state in
      state.hold = hold
      state.release = release
      return state.state == .suspended
    }
    if isSuspended { hold?() }
  }

  func willRetry() { state.withLock { $0.retryCount += 1 } }

  /// The error that the request ends with: the cause of a cancellation replaces `.cancelled`.
  func final(_ error: TransferError) -> TransferError { error.isCancellation ? cancellationCause ?? error : error }

  // MARK: Progress

  func progress(_ direction: ProgressDirection) -> TransferProgress {
    state.withLock { $0[direction].progress }
  }

  func report(_ progress: TransferProgress, _ direction: ProgressDirection = .download) {
    let observers = state.withLock { state in
      state[direction].progress = progress
      return state[direction].observers
    }
    for observer in observers { observer.send(progress) }
  }

  /// A stream that is added after the end gets the last value and ends.
  func observe(_ direction: ProgressDirection, _ observer: ValueObserver<TransferProgress>) {
    let last = state.withLock { state -> TransferProgress? in
      guard state.output == nil else { return state[direction].progress }
      state[direction].observers.append(observer)
      return nil
    }
    guard let last else { return }
    if case .stream = observer { observer.send(last) }
    observer.finish()
  }
}
