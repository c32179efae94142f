import FoundationEssentials
import HTTPTypes

/// Requests whose responses are read piece by piece.
extension Session {
  /// A request whose response is read piece by piece. It starts when it is first read.
  public func streamRequest(
    _ convertible: any URLConvertible, method: HTTPMethod = .get, headers: HTTPHeaders? = nil,
    automaticallyCancelOnStreamError: Bool = false, interceptor: (any RequestInterceptor)? = nil,
    requestModifier: RequestModifier? = nil
  ) -> DataStreamRequest {
    stream(
      source(convertible, method, headers, requestModifier), automaticallyCancelOnStreamError, interceptor)
  }

  /// The same with parameters that are an `Encodable` value.
  public func streamRequest<Parameters: Encodable & Sendable>(
    _ convertible: any URLConvertible, method: HTTPMethod = .get, parameters: Parameters?,
    encoder: any ParameterEncoder = URLEncodedFormParameterEncoder.default, headers: HTTPHeaders? = nil,
    automaticallyCancelOnStreamError: Bool = false, interceptor: (any RequestInterceptor)? = nil,
    requestModifier: RequestModifier? = nil
  ) -> DataStreamRequest {
    let source = source(convertible, method, headers, requestModifier) { try encoder.encode(parameters, into: $0) }
    return stream(source, automaticallyCancelOnStreamError, interceptor)
  }

  /// The same with this body.
  public func streamRequest(
    _ convertible: any URLConvertible, method: HTTPMethod = .get, headers: HTTPHeaders? = nil, body: RequestBody?,
    automaticallyCancelOnStreamError: Bool = false, interceptor: (any RequestInterceptor)? = nil,
    requestModifier: RequestModifier? = nil
  ) -> DataStreamRequest {
    stream(
      source(convertible, method, headers, requestModifier, Self.adding(body)), automaticallyCancelOnStreamError,
      interceptor)
  }

  /// A request that describes itself.
  public func streamRequest(
    _ convertible: any URLRequestConvertible, automaticallyCancelOnStreamError: Bool = false,
    interceptor: (any RequestInterceptor)? = nil
  ) -> DataStreamRequest {
    stream(RequestSource(convertible), automaticallyCancelOnStreamError, interceptor)
  }

  private func stream(
    _ source: RequestSource, _ cancelsOnError: Bool, _ interceptor: (any RequestInterceptor)?
  ) -> DataStreamRequest {
    let channel = StreamChannel()
    let handlers = StreamHandlers()
    return DataStreamRequest(
      core: RequestCore(session: self) { core in
        await StreamPipeline(
          session: self, core: core, source: source, interceptor: interceptor, channel: channel, handlers: handlers
        ).run()
      }, channel: channel, handlers: handlers, cancelsOnError: cancelsOnError)
  }
}
