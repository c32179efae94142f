import Synchronization

/// Puts a credential on requests and renews it when it expires or is refused: once, however many requests want it.
///
/// Requests whose adapting meets a refresh wait for its outcome; so do refused ones, which are then tried again. As in
/// Alamofire, for a service whose answers are validated: only an error makes a retrier be asked.
public final class AuthenticationInterceptor<AuthenticatorType: Authenticator>: RequestInterceptor {
  /// The credential that the authenticator applies and refreshes.
  public typealias Credential = AuthenticatorType.Credential

  /// So many refreshes within the interval are allowed; more are taken for a loop.
  public struct RefreshWindow: Hashable, Sendable {
    /// How far back refreshes are counted.
    public let interval: Duration
    /// Refreshes within `interval` that are still allowed; one more fails with `.excessiveRefresh`.
    public let maximumAttempts: Int

    /// 30 s and 5 refreshes, as in Alamofire.
    public init(interval: Duration = .seconds(30), maximumAttempts: Int = 5) {
      self.interval = interval
      self.maximumAttempts = maximumAttempts
    }
  }

  private struct State {
    var credential: Credential?
    var refresh: Task<Result<Credential, any Error>, Never>?
    var refreshedAt: [ContinuousClock.Instant] = []
  }

  private let authenticator: AuthenticatorType
  private let refreshWindow: RefreshWindow?
  private let state: Mutex<State>

  /// - Parameter refreshWindow: `nil`: refreshes are not counted.
  /// - Parameter authenticator: applies the credential, and refreshes it.
  /// - Parameter credential: what is applied at first; it may be set later.
  public init(
    authenticator: AuthenticatorType, credential: Credential? = nil, refreshWindow: RefreshWindow? = RefreshWindow()
  ) {
    self.authenticator = authenticator
    self.refreshWindow = refreshWindow
    state = Mutex(State(credential: credential))
  }

  /// The credential that is put on requests. One that is set while a refresh runs is replaced by its outcome.
  public var credential: Credential? {
    get { state.withLock { $0.credential } }
    set { state.withLock { $0.credential = newValue } }
  }

  /// - Throws: `AuthenticationError`, or what the refresh threw.
  public func adapt(_ request: TransferRequest, for session: Session) async throws -> TransferRequest {
    if RefreshScope.isRefreshing { return request }
    var request = request
    authenticator.apply(try await usableCredential(for: session), to: &request)
    return request
  }

  public func retry(_ attempt: FailedAttempt, for session: Session) async -> RetryResult {
    // Where a redirect led away from the origin the credential stayed behind: what was refused there is not about it.
    guard !RefreshScope.isRefreshing, let request = attempt.request, let response = attempt.response,
      !request.hasLeftOrigin,
      authenticator.didRequest(request, with: response, failDueToAuthenticationError: attempt.error)
    else { return .doNotRetry }
    guard let credential else { return .doNotRetryWithError(AuthenticationError.missingCredential) }
    guard authenticator.isRequest(request, authenticatedWith: credential) else {
      // An authenticator that never knows its own credential again must not go on for ever.
      return attempt.retryCount < (refreshWindow?.maximumAttempts ?? 5) ? .retry : .doNotRetry
    }
    do {
      _ = try await refreshed(insteadOf: { self.authenticator.isRequest(request, authenticatedWith: $0) }, for: session)
      return .retry
    } catch {
      return .doNotRetryWithError(error)
    }
  }

  private func usableCredential(for session: Session) async throws -> Credential {
    let (current, running) = state.withLock { ($0.credential, $0.refresh) }
    if let running { return try await running.value.get() }
    guard let current else { throw AuthenticationError.missingCredential }
    guard current.requiresRefresh else { return current }
    return try await refreshed(insteadOf: { $0.requiresRefresh }, for: session)
  }

  /// The outcome of the refresh that runs, or of a new one; without any where the credential is a better one by now.
  private func refreshed(
    insteadOf isUseless: (Credential) -> Bool, for session: Session
  ) async throws -> Credential {
    let task = try state.withLock { state -> Task<Result<Credential, any Error>, Never>? in
      if let running = state.refresh { return running }
      guard let credential = state.credential else { throw AuthenticationError.missingCredential }
      guard isUseless(credential) else { return nil }
      try note(&state)
      let task = Task { await self.refresh(credential, for: session) }
      state.refresh = task
      return task
    }
    if let task { return try await task.value.get() }
    return try await usableCredential(for: session)
  }

  private func refresh(_ credential: Credential, for session: Session) async -> Result<Credential, any Error> {
    let result: Result<Credential, any Error>
    do {
      result = .success(
        try await RefreshScope.$isRefreshing.withValue(true) {
          try await authenticator.refresh(credential, for: session)
        })
    } catch {
      result = .failure(error)
    }
    state.withLock { state in
      state.refresh = nil
      if case .success(let new) = result { state.credential = new }
    }
    return result
  }

  /// Counts a refresh that is about to begin.
  private func note(_ state: inout State) throws(AuthenticationError) {
    guard let refreshWindow else { return }
    let now = ContinuousClock.now
    state.refreshedAt.removeAll { $0 + refreshWindow.interval < now }
    guard state.refreshedAt.count < refreshWindow.maximumAttempts else { throw .excessiveRefresh }
    state.refreshedAt.append(now)
  }
}

/// Marks the task in which a refresh runs, and the requests that it makes.
private enum RefreshScope {
  @TaskLocal static var isRefreshing = false
}
