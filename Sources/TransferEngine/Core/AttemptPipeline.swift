/// A request as a series of attempts: attempt → decide → wait → attempt.
///
/// Each kind of request defines what an attempt does and what a failed attempt leaves behind. This protocol contains
/// what all kinds share: what retriers receive, how retries are counted, and when a request ends.
protocol AttemptPipeline {
  associatedtype Output: RequestOutput
  /// What an attempt leaves for the next one and for the outcome.
  associatedtype Context

  var session: Session { get }
  var core: RequestCore<Output> { get }
  /// The request's own interceptor, which is asked before the session's.
  var interceptor: (any RequestInterceptor)? { get }

  /// Makes one attempt, from the description of the request to the end of its outcome.
  mutating func attempt(_ context: inout Context) async throws(TransferError)

  /// Saves what a failed attempt leaves, and decides what follows.
  func decide(after error: TransferError, _ context: inout Context) async -> AttemptDecision
}

extension AttemptPipeline {
  /// Makes attempts until one succeeds, or until none follows.
  /// - Returns: the error that the request ends with; `nil`: it succeeded.
  mutating func run(_ context: inout Context) async -> TransferError? {
    var retries = 0
    let start = ContinuousClock.now
    while true {
      do throws(TransferError) {
        try await attempt(&context)
        return nil
      } catch {
        switch await decide(after: error, &context) {
        case .attemptAgain(let madeProgress):
          if madeProgress { retries = 0 }
        case .end(let error): return core.final(error)
        case .askRetriers(let request, let response, let error, let madeProgress):
          if madeProgress { retries = 0 }
          let failure = FailedAttempt(
            request: request, response: response, error: error, retryCount: retries,
            elapsed: start.duration(to: .now))
          if let last = await session.wait(toRetry: failure, id: core.id, interceptor) { return core.final(last) }
          retries += 1  // checked: a counter of this process
          core.willRetry()
        }
      }
    }
  }
}
