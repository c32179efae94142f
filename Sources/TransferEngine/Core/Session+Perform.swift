import HTTPTypes
import Threads

/// The steps that all requests share: adapt → transfer → follow redirects → (retry).
extension Session {
  /// Runs the adapters for one attempt: the request's own first, then the session's.
  func adapted(
    _ described: TransferRequest, _ interceptor: (any RequestInterceptor)?, _ record: RequestRecord
  ) async throws(TransferError) -> TransferRequest {
    var request = described
    request.redirects = request.redirects ?? configuration.redirects
    record.didDescribe(request)
    let state = RequestAdapterState(requestID: record.id, session: self)
    for hook in [interceptor, self.interceptor] {
      guard let hook else { continue }
      do {
        request = try await hook.adapt(request, using: state)
      } catch {
        let failure = TransferError.of(.adapter, error)
        record.notify(.failToAdapt(described, dueTo: failure))
        throw failure
      }
    }
    if interceptor != nil || self.interceptor != nil { record.notify(.adapt(from: described, to: request)) }
    record.didAdapt(request)
    return request
  }

  /// Asks the retriers about a failed attempt, and waits for the delay that they choose.
  /// - Returns: the error that the request ends with; `nil` if another attempt follows.
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

  /// The decision of the first retrier that does not return `.doNotRetry`; `nil` if all return it.
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

  /// The request as libcurl gets it.
  func wireRequest(_ request: TransferRequest, acceptEncoding: String? = nil) -> WireRequest {
    let request = request.signer?.signed(request) ?? request
    let headers = headerFields(of: request)
    var wire = WireRequest(
      url: request.url.wireString,
      host: "\(request.url.host):\(request.url.port)", method: request.method,
      headers: headers, body: request.body,
      credential: request.credential ?? request.credentials.map(HTTPCredential.basic), acceptEncoding: acceptEncoding,
      connectTimeout: request.connectTimeout, stallTimeout: request.stallTimeout, limitRate: request.limitRate,
      unixSocketPath: configuration.unixSocketPath,
      certificateAuthorityFile: configuration.certificateAuthorityFile,
      remote: request.url.isHTTP ? nil : RemoteOptions(request, configuration))
    wire.source = request.url
    wire.bandwidthBuckets = request.bandwidthBuckets
    wire.decodingLimit = configuration.decodingLimit
    wire.addresses = addressRule(of: request)
    // "" accepts every coding that the engine can decode. libcurl's own decoders do not check that a body is complete.
    if acceptEncoding == "", !wire.headers.contains(.acceptEncoding) {
      wire.headers[.acceptEncoding] = ContentDecoder.acceptEncoding
    }
    wire.isolatesConnection = request.connection.isolatesConnection
    wire.ipVersion = request.connection.ipVersion
    wire.interface = request.connection.interface
    wire.maximumHTTPVersion = request.connection.maximumHTTPVersion
    wire.hostAddress = request.connection.hostAddresses.first { $0.applies(to: request.url) }
    applyTrust(to: &wire, request)
    applyProxy(to: &wire, request)
    return wire
  }

  /// Runs one transfer of a request. While the request is suspended, the transfer is held: nothing is read or sent, and the
  /// connection stays open.
  func perform<Output>(
    _ request: TransferRequest, acceptEncoding: String?, for core: RequestCore<Output>,
    receiver: any TransferReceiver, begins: (TransferID, any TransferPerformer) -> Void = { _, _ in }
  ) async throws(TransferError) -> TransferOutcome {
    let loop = try performer(for: request.url)
    core.record.willSend(request)
    let id = TransferID { [weak core] in core?.requestState == .suspended }
    // The loop asks for the current state, so calls that run out of order still have the right effect.
    let adjust: @Sendable () -> Void = { Task { await loop.adjustHold(id) } }
    core.setTransfer(hold: adjust, release: adjust)
    begins(id, loop)
    var wire = wireRequest(request, acceptEncoding: acceptEncoding)
    wire.didReceiveHead = { [record = core.record] in record.didReceive($0) }
    let outcome = await loop.perform(wire, id: id, receiver: receiver)
    core.setTransfer(hold: nil)
    core.record.didEnd(outcome)
    return outcome
  }

  /// The request that follows a redirect; `nil` if the handler does not follow it.
  /// - Parameter keepsBody: a redirect that would drop the request's body is an error, unless the handler replaces the
  ///   request.
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
