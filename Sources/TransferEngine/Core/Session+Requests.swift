import HTTPTypes

/// Requests whose responses are kept in memory. These methods do not throw: an invalid URL or parameter fails the
/// request.
extension Session {
  /// Changes the request of every attempt, after it was described and before adapters run.
  public typealias RequestModifier = @Sendable (inout TransferRequest) throws -> Void

  /// A request whose response is kept in memory. It starts when its outcome is first asked for.
  public func request(
    _ convertible: any URLConvertible, method: HTTPMethod = .get, parameters: Parameters? = nil,
    encoding: any ParameterEncoding = URLEncoding.default, headers: HTTPHeaders? = nil,
    interceptor: (any RequestInterceptor)? = nil, requestModifier: RequestModifier? = nil
  ) -> DataRequest {
    request(
      source(convertible, method, headers, requestModifier) { try encoding.encode($0, with: parameters) },
      interceptor)
  }

  /// The same with parameters that are an `Encodable` value.
  public func request<Parameters: Encodable & Sendable>(
    _ convertible: any URLConvertible, method: HTTPMethod = .get, parameters: Parameters? = nil,
    encoder: any ParameterEncoder = URLEncodedFormParameterEncoder.default, headers: HTTPHeaders? = nil,
    interceptor: (any RequestInterceptor)? = nil, requestModifier: RequestModifier? = nil
  ) -> DataRequest {
    request(
      source(convertible, method, headers, requestModifier) { try encoder.encode(parameters, into: $0) }, interceptor)
  }

  /// The same with this body.
  public func request(
    _ convertible: any URLConvertible, method: HTTPMethod = .get, headers: HTTPHeaders? = nil, body: RequestBody?,
    interceptor: (any RequestInterceptor)? = nil, requestModifier: RequestModifier? = nil
  ) -> DataRequest {
    request(source(convertible, method, headers, requestModifier, Self.adding(body)), interceptor)
  }

  /// A request that describes itself.
  public func request(
    _ convertible: any URLRequestConvertible, interceptor: (any RequestInterceptor)? = nil
  ) -> DataRequest {
    request(RequestSource(convertible), interceptor)
  }

  private func request(_ source: RequestSource, _ interceptor: (any RequestInterceptor)?) -> DataRequest {
    DataRequest(
      core: RequestCore(session: self) { core in
        await DataPipeline(session: self, core: core, source: source, interceptor: interceptor).run()
      })
  }

  static func adding(_ body: RequestBody?) -> @Sendable (TransferRequest) -> TransferRequest {
    { request in
      var request = request
      request.body = body
      return request
    }
  }

  /// URL, method and fields, with the session's timeouts, encoded and modified.
  func source(
    _ convertible: any URLConvertible, _ method: HTTPMethod, _ headers: HTTPHeaders?,
    _ requestModifier: RequestModifier?,
    _ encode: @escaping @Sendable (TransferRequest) throws -> TransferRequest = { $0 }
  ) -> RequestSource {
    let (connectTimeout, stallTimeout) = (configuration.connectTimeout, configuration.stallTimeout)
    return RequestSource {
      let description = TransferRequest(
        url: try convertible.asURL(), method: method, headers: headers ?? [:], connectTimeout: connectTimeout,
        stallTimeout: stallTimeout)
      var request = try encode(description)
      try requestModifier?(&request)
      return request
    }
  }

  /// Sends a request of the engine itself: without hooks of its own, redirects followed.
  func exchange(_ request: TransferRequest) async -> DataOutcome {
    let core = RequestCore<DataOutcome>(session: self) { core in
      await DataPipeline(session: self, core: core, source: RequestSource(request), interceptor: nil).run()
    }
    core.resume()
    return await withTaskCancellationHandler {
      await core.value()
    } onCancel: {
      core.cancel()
    }
  }
}
