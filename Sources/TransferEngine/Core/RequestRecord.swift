import Synchronization

/// What one request has sent and received so far, and the handlers that observe it. Reports to the session's monitors.
final class RequestRecord: Sendable {
  let id: RequestID
  let session: Session
  private let state = Mutex(State())

  private struct State {
    var request: TransferRequest?
    /// The last request of an attempt, after its adapters; redirects do not change it.
    var adapted: TransferRequest?
    var response: ResponseHead?
    var metrics: [TransferMetrics] = []
    var requestObservers: [ValueObserver<TransferRequest>] = []
    /// Called with the next adapted request, once.
    var onceObservers: [ValueObserver<TransferRequest>] = []
    var responseObservers: [ValueObserver<ResponseHead>] = []
    var isEnded = false
  }

  init(id: RequestID, session: Session) {
    self.id = id
    self.session = session
  }

  /// The last request: as it was sent, or, where nothing was sent, as it was described.
  var request: TransferRequest? { state.withLock { $0.request } }
  /// The head of the last response, redirects included.
  var response: ResponseHead? { state.withLock { $0.response } }
  /// One value for each transfer, in the order in which they ended.
  var metrics: [TransferMetrics] { state.withLock { $0.metrics } }

  func notify(_ event: @autoclosure () -> RequestEvent) { session.notify(id, event()) }

  // MARK: Called by the pipelines

  /// An attempt begins with this request, which adapters may still change.
  func didDescribe(_ request: TransferRequest) { state.withLock { $0.request = request } }

  /// The attempt's request is complete.
  func didAdapt(_ request: TransferRequest) {
    let observers = state.withLock { state in
      state.request = request
      state.adapted = request
      defer { state.onceObservers = [] }
      return state.requestObservers + state.onceObservers
    }
    for observer in observers { observer.send(request) }
  }

  /// One transfer begins: an attempt's first or one that follows a redirect.
  func willSend(_ request: TransferRequest) {
    state.withLock { $0.request = request }
    notify(.send(request))
    session.reportSkippedTrust(request, id)
  }

  /// Called on the transfer loop's thread, before the body.
  func didReceive(_ head: ResponseHead) {
    let observers = state.withLock { state in
      state.response = head
      return state.responseObservers
    }
    notify(.receiveHead(head))
    for observer in observers { observer.send(head) }
  }

  /// Cancelled transfers count too; one that never began has no metrics.
  func didEnd(_ outcome: TransferOutcome) {
    guard let metrics = outcome.metrics else { return }
    state.withLock { $0.metrics.append(metrics) }
    notify(.gatherMetrics(metrics))
  }

  func didEndRequest() {
    let (requests, responses) = state.withLock { state in
      state.isEnded = true
      defer { (state.requestObservers, state.responseObservers, state.onceObservers) = ([], [], []) }
      return (state.requestObservers, state.responseObservers)
    }
    for observer in requests { observer.finish() }
    for observer in responses { observer.finish() }
  }

  // MARK: Observers

  /// - Parameter once: the observer receives one request only: the last one if there is one, otherwise the next one.
  func observeRequests(_ observer: ValueObserver<TransferRequest>, once: Bool = false) {
    let (last, isEnded) = state.withLock { state in
      if once {
        if state.adapted == nil, !state.isEnded { state.onceObservers.append(observer) }
      } else if !state.isEnded {
        state.requestObservers.append(observer)
      }
      return (state.adapted, state.isEnded)
    }
    if let last { observer.send(last) }
    if isEnded { observer.finish() }
  }

  func observeResponses(_ observer: ValueObserver<ResponseHead>) {
    let (last, isEnded) = state.withLock { state in
      if !state.isEnded { state.responseObservers.append(observer) }
      return (state.response, state.isEnded)
    }
    if let last { observer.send(last) }
    if isEnded { observer.finish() }
  }
}
