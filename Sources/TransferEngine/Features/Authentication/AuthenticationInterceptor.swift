import Synchronization

/// Applies a credential to requests, and refreshes it when it has expired or a server refuses it.
///
/// One refresh serves all requests that need it. Requests that are adapted during a refresh wait for its result. Requests
/// that a server refused are retried after it. A retrier is asked only about errors, so validate the responses of the
/// service: without `validate()` a 401 is a success.
///
/// No lock is held while the authenticator is called: its methods may read and set `credential`.
public final class AuthenticationInterceptor<AuthenticatorType: Authenticator>: RequestInterceptor {
  /// The credential that the authenticator applies and refreshes.
  public typealias Credential = AuthenticatorType.Credential

  /// Limits how often the credential is refreshed, so that a refused credential does not cause an endless loop.
  public struct RefreshWindow: Hashable, Sendable {
    /// Refreshes within this interval before now are counted.
    public let interval: Duration
    /// Refreshes that are allowed within `interval`; one more fails with `.excessiveRefresh`.
    public let maximumAttempts: Int

    /// 30 s and 5 refreshes, as in Alamofire.
    public init(interval: Duration = .seconds(30), maximumAttempts: Int = 5) {
      self.interval = interval
      self.maximumAttempts = maximumAttempts
    }
  }

  private struct State {
    var credential: Credential?
    /// Changes whenever `credential` is set. It shows whether a credential that was checked outside the lock is still
    /// current.
    var version = 0
    var refresh: Task<Result<Credential, any Error>, Never>?
    var refreshedAt: [ContinuousClock.Instant] = []

    mutating func set(_ credential: Credential?) {
      self.credential = credential
      version &+= 1
    }
  }

  private let authenticator: AuthenticatorType
  private let refreshWindow: RefreshWindow?
  private let state: Mutex<State>

  /// - Parameters:
  ///   - authenticator: applies and refreshes the credential.
  ///   - credential: the first credential; it may be set later.
  ///   - refreshWindow: `nil` does not limit refreshes. One request still refreshes at most 5 times.
  public init(
    authenticator: AuthenticatorType, credential: Credential? = nil, refreshWindow: RefreshWindow? = RefreshWindow()
  ) {
    self.authenticator = authenticator
    self.refreshWindow = refreshWindow
    state = Mutex(State(credential: credential))
  }

  /// The credential that is applied to requests. A refresh that is running replaces a value that is set meanwhile.
  public var credential: Credential? {
    get { state.withLock { $0.credential } }
    set { state.withLock { $0.set(newValue) } }
  }

  /// - Throws: `AuthenticationError`, or the error of the refresh.
  public func adapt(_ request: TransferRequest, for session: Session) async throws -> TransferRequest {
    if RefreshScope.isRefreshing { return request }
    var request = request
    authenticator.apply(try await validCredential(for: session), to: &request)
    return request
  }

  public func retry(_ attempt: FailedAttempt, for session: Session) async -> RetryResult {
    // A redirect to another origin drops the credential, so a refusal by that origin does not concern the credential.
    guard !RefreshScope.isRefreshing, let request = attempt.request, let response = attempt.response,
      !request.hasLeftOrigin,
      authenticator.didRequest(request, with: response, failDueToAuthenticationError: attempt.error)
    else { return .doNotRetry }
    let (current, version) = state.withLock { ($0.credential, $0.version) }
    guard let current else { return .doNotRetryWithError(AuthenticationError.missingCredential) }
    guard authenticator.isRequest(request, authenticatedWith: current) else {
      // An authenticator that never recognises its own credential must not cause an endless loop.
      return attempt.retryCount < maximumAttempts ? .retry : .doNotRetry
    }
    do {
      _ = try await refreshed(current, version: version, for: session)
      return .retry
    } catch {
      return .doNotRetryWithError(error)
    }
  }

  private var maximumAttempts: Int { refreshWindow?.maximumAttempts ?? 5 }

  /// The credential to apply. One that requires a refresh is refreshed, also when a refresh has just produced it.
  private func validCredential(for session: Session) async throws -> Credential {
    for _ in 0...max(0, maximumAttempts) {
      let (current, version, running) = state.withLock { ($0.credential, $0.version, $0.refresh) }
      if let running {
        _ = try await running.value.get()
        continue
      }
      guard let current else { throw AuthenticationError.missingCredential }
      guard current.requiresRefresh else { return current }
      _ = try await refreshed(current, version: version, for: session)
    }
    throw AuthenticationError.excessiveRefresh
  }

  /// Waits for the running refresh, or starts one.
  /// - Parameter version: the version of `credential`. If another one has been set since, no refresh is started.
  private func refreshed(_ credential: Credential, version: Int, for session: Session) async throws -> Credential {
    let task = try state.withLock { state -> Task<Result<Credential, any Error>, Never>? in
      if let running = state.refresh { return running }
      guard state.version == version else { return nil }
      try count(&state)
      let task = Task { await self.refresh(credential, for: session) }
      state.refresh = task
      return task
    }
    guard let task else {
      guard let newer = self.credential else { throw AuthenticationError.missingCredential }
      return newer
    }
    return try await task.value.get()
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
      if case .success(let new) = result { state.set(new) }
    }
    return result
  }

  /// Counts a refresh that is about to begin.
  private func count(_ state: inout State) throws(AuthenticationError) {
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
