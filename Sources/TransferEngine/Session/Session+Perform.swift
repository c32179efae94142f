import HTTPTypes

/// The way of every request: build → adapt → attempt, hop by hop → (retry).
extension Session {
  /// The request's own hooks first, then the session's.
  func adapted(
    _ request: TransferRequest, _ interceptor: (any RequestInterceptor)?
  ) async throws(TransferError) -> TransferRequest {
    var request = request
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

  /// Asks the hooks what follows a failure; `nil` delay means no further try.
  func retryDelay(
    _ request: TransferRequest, _ interceptor: (any RequestInterceptor)?, dueTo error: TransferError, retryCount: Int
  ) async -> Result<Duration, TransferError>? {
    for hook in [interceptor, self.interceptor] {
      guard let hook else { continue }
      switch await hook.retry(request, for: self, dueTo: error, retryCount: retryCount) {
      case .retry: return .success(.zero)
      case .retryWithDelay(let delay): return .success(delay)
      case .doNotRetry: continue
      case .doNotRetryWithError(let other):
        return .failure(other as? TransferError ?? .hook(.retrier, other))
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
    applyTrust(to: &wire, request)
    applyProxy(to: &wire, request)
    return wire
  }

  /// The request that follows a redirect; `nil` when the handler does not want it followed.
  func redirected(
    _ request: TransferRequest, _ head: ResponseHead, hops: Int, id: RequestID
  ) async throws(TransferError) -> TransferRequest? {
    guard hops < RedirectRule.maximumRedirects else {
      throw .redirect(.tooMany(limit: RedirectRule.maximumRedirects))
    }
    let next = try RedirectRule.next(after: request, head: head)
    notify(id, .redirect(from: request.url, to: next.url))
    switch await redirectHandler.redirect(next, from: request, response: head) {
    case .follow: return next
    case .doNotFollow: return nil
    case .modify(let other): return other
    }
  }

  func performData(
    _ original: TransferRequest, _ core: RequestCore<DataResponse>, interceptor: (any RequestInterceptor)?
  ) async -> DataResponse {
    var retries = 0
    while true {
      var response = await dataAttempt(original, core, interceptor)
      guard let error = response.error else {
        notify(core.id, .finish)
        return response
      }
      if !Task.isCancelled,
        let next = await retryDelay(original, interceptor, dueTo: error, retryCount: retries)
      {
        switch next {
        case .success(let delay):
          retries += 1
          notify(core.id, .retry(after: delay, dueTo: error))
          try? await Task.sleep(for: delay)
          if !Task.isCancelled { continue }
          response.error = .cancelled
        case .failure(let other): response.error = other
        }
      }
      notify(core.id, .fail(response.error ?? error))
      return response
    }
  }

  private func dataAttempt(
    _ original: TransferRequest, _ core: RequestCore<DataResponse>, _ interceptor: (any RequestInterceptor)?
  ) async -> DataResponse {
    var metrics: [TransferMetrics] = []
    do throws(TransferError) {
      var request = try await adapted(original, interceptor)
      var hops = 0
      while true {
        await core.waitWhileSuspended()
        let receiver = DataReceiver(limit: configuration.maximumBodyBytes)
        notify(core.id, .send(request))
        // "": every coding that libcurl can undo.
        let outcome = await (try performer(for: request.url)).perform(
          wireRequest(request, acceptEncoding: ""), id: TransferID(), receiver: receiver)
        switch outcome {
        case .cancelled: throw .cancelled
        case .failed(let error, let head, let cost):
          metrics.append(cost)
          return DataResponse(head: head, data: receiver.data, error: error, metrics: metrics)
        case .finished(let head, let cost):
          metrics.append(cost)
          notify(core.id, .gatherMetrics(cost))
          if let head, head.isRedirect, head.headers[.location] != nil,
            let next = try await redirected(request, head, hops: hops, id: core.id)
          {
            request = next
            hops += 1
            continue
          }
          return DataResponse(head: head, data: receiver.data, error: nil, metrics: metrics)
        }
      }
    } catch {
      return DataResponse(head: nil, data: .init(), error: error, metrics: metrics)
    }
  }

  func performStream(
    _ original: TransferRequest, _ core: RequestCore<TransferError?>, channel: StreamChannel, transferID: TransferID
  ) async -> TransferError? {
    var failure: TransferError?
    do throws(TransferError) {
      let request = try await adapted(original, nil)
      notify(core.id, .send(request))
      let loop = try performer(for: request.url)
      switch await loop.perform(wireRequest(request), id: transferID, receiver: channel) {
      case .cancelled: failure = .cancelled
      case .failed(let error, _, _): failure = error
      case .finished: failure = nil
      }
    } catch {
      failure = error
    }
    channel.end(failure)
    notify(core.id, failure.map { .fail($0) } ?? .finish)
    return failure
  }
}
