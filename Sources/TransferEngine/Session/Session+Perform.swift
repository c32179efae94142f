import HTTPTypes
import Threads

/// The way of every request: build → adapt → attempt, hop by hop → (retry).
extension Session {
  /// The request's own hooks first, then the session's.
  func adapted(
    _ request: TransferRequest, _ interceptor: (any RequestInterceptor)?
  ) async throws(TransferError) -> TransferRequest {
    var request = request
    request.redirects = request.redirects ?? configuration.redirects
    for hook in [interceptor, self.interceptor] {
      guard let hook else { continue }
      do {
        request = try await hook.adapt(request, for: self)
      } catch {
        throw .of(.adapter, error)
      }
    }
    return request
  }

  /// Asks the hooks what follows a failure, and waits for as long as they say.
  /// - Returns: the error that the request ends with; `nil` when it is to be tried again.
  func wait(
    toRetry failure: FailedAttempt, id: RequestID, _ interceptor: (any RequestInterceptor)?
  ) async -> TransferError? {
    if Task.isCancelled { return .cancelled }
    if failure.error.isCancellation { return failure.error }
    switch await retryDelay(failure, interceptor) {
    case nil: return Task.isCancelled ? .cancelled : failure.error
    case .failure(let other)?: return other
    case .success(let delay)?:
      notify(id, .retry(after: delay, dueTo: failure.error))
      if delay > .zero { try? await Task.pause(for: delay) }
      return Task.isCancelled ? .cancelled : nil
    }
  }

  /// The first hook that does not say `.doNotRetry` decides; `nil` where none does.
  private func retryDelay(
    _ failure: FailedAttempt, _ interceptor: (any RequestInterceptor)?
  ) async -> Result<Duration, TransferError>? {
    for hook in [interceptor, self.interceptor] {
      guard let hook else { continue }
      switch await hook.retry(failure, for: self) {
      case .retry: return .success(.zero)
      case .retryWithDelay(let delay): return .success(delay)
      case .doNotRetry: continue
      case .doNotRetryWithError(let other): return .failure(.of(.retrier, other))
      }
    }
    return nil
  }

  /// One hop as libcurl gets it.
  func wireRequest(_ request: TransferRequest, acceptEncoding: String? = nil) -> WireRequest {
    let headers = headerFields(of: request)
    var wire = WireRequest(
      url: request.url.isHTTP ? request.url.string : request.url.wireString,
      host: "\(request.url.host):\(request.url.port)", method: request.method,
      headers: headers, body: request.body,
      credential: request.credential ?? request.credentials.map(HTTPCredential.basic), acceptEncoding: acceptEncoding,
      connectTimeout: request.connectTimeout, stallTimeout: request.stallTimeout, limitRate: request.limitRate,
      unixSocketPath: configuration.unixSocketPath,
      certificateAuthorityFile: configuration.certificateAuthorityFile,
      remote: request.url.isHTTP ? nil : RemoteOptions(request, configuration))
    wire.decodingLimit = configuration.decodingLimit
    wire.addresses = addressRule(of: request)
    // "": every coding that can be undone. libcurl would undo them without a look at their end.
    if acceptEncoding == "", !wire.headers.contains(.acceptEncoding) {
      wire.headers[.acceptEncoding] = ContentDecoder.acceptEncoding
    }
    applyTrust(to: &wire, request)
    applyProxy(to: &wire, request)
    return wire
  }

  /// One transfer of a request that is held while the request is suspended: nothing is read or sent, and the connection
  /// stays.
  func perform<Output>(
    _ request: TransferRequest, acceptEncoding: String?, for core: RequestCore<Output>,
    receiver: any TransferReceiver, begins: (TransferID, any TransferPerformer) -> Void = { _, _ in }
  ) async throws(TransferError) -> TransferOutcome {
    let loop = try performer(for: request.url)
    core.willSend(request)
    let id = TransferID { [weak core] in core?.requestState == .suspended }
    // Asked on the loop: of calls that overtake each other, the last one sees how things stand.
    let adjust: @Sendable () -> Void = { Task { await loop.adjustHold(id) } }
    core.setTransfer(hold: adjust, release: adjust)
    begins(id, loop)
    let wire = wireRequest(request, acceptEncoding: acceptEncoding)
    let outcome = await loop.perform(wire, id: id, receiver: receiver)
    core.setTransfer(hold: nil)
    return outcome
  }

  /// The request that follows a redirect; `nil` when the handler does not want it followed.
  /// - Parameter keepsBody: a redirect that turns the request into one without its body is an error, unless the handler
  ///   itself says what is to be sent.
  func redirected(
    _ request: TransferRequest, _ head: ResponseHead, hops: Int, id: RequestID, handler: any RedirectHandler,
    keepsBody: Bool = false
  ) async throws(TransferError) -> TransferRequest? {
    guard hops < RedirectRule.maximumRedirects else {
      throw .redirect(.tooMany(limit: RedirectRule.maximumRedirects))
    }
    let next = try RedirectRule.next(after: request, head: head)
    switch await handler.redirect(next, from: request, response: head) {
    case .follow:
      if keepsBody, next.body == nil, request.body != nil {
        throw .redirect(.dropsBody(status: head.status, to: next.url.origin))
      }
      notify(id, .redirect(from: request.url, to: next.url))
      return next
    case .doNotFollow: return nil
    case .modify(var other):
      other.isNamedByServer = true
      other.redirects = next.redirects
      other.requiresPublicAddress = next.requiresPublicAddress
      notify(id, .redirect(from: request.url, to: other.url))
      return other
    }
  }
}
