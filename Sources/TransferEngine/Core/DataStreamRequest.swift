import FoundationEssentials

/// A request whose response is read piece by piece as it arrives, for server-sent events and endless bodies.
///
/// A slow reader slows the server down. The body has one reader: one sequence, or all handlers together. The request can be
/// retried until a reader has received something of the response. Bodies are delivered as they are sent: a content coding is
/// not decoded.
public final class DataStreamRequest: Request {
  /// Checks the head before any of the body is delivered. Called on the transfer loop's thread; must return quickly.
  public typealias Validation = @Sendable (TransferRequest, ResponseHead) -> ValidationResult

  let core: RequestCore<StreamOutcome>
  let channel: StreamChannel
  let handlers: StreamHandlers
  /// Whether the request is cancelled when a serializer fails.
  public let automaticallyCancelOnStreamError: Bool

  init(core: RequestCore<StreamOutcome>, channel: StreamChannel, handlers: StreamHandlers, cancelsOnError: Bool) {
    self.core = core
    self.channel = channel
    self.handlers = handlers
    automaticallyCancelOnStreamError = cancelsOnError
    core.attach(self)
  }

  public var control: RequestControl { RequestControl(core: core) }

  /// Why the request failed; `nil` while it runs and after a success. If a handler threw, this is its error, even if
  /// the whole body had arrived before.
  public var error: TransferError? { core.output.flatMap { $0.error ?? core.cancellationCause } }

  /// Starts the request and waits for the response's head, after redirects and validation. The request is not retried after
  /// a head was returned.
  public func responseHead() async throws(TransferError) -> ResponseHead {
    core.resume()
    return try await channel.head().get()
  }

  /// Waits for the end of the request.
  public func completion() async -> StreamCompletion { await core.value().completion }

  // MARK: Validation

  /// Fails the request if the closure refuses the head. Then nothing of the body is delivered.
  @discardableResult public func validate(_ validation: @escaping Validation) -> Self {
    core.validate(validation)
    return self
  }

  /// Fails the request with `.unacceptableStatus` unless the status is one of these.
  @discardableResult public func validate<Statuses: Sequence & Sendable>(
    statusCode acceptableStatusCodes: Statuses
  ) -> Self where Statuses.Element == Int {
    validate { _, head in ResponseValidation.status(acceptableStatusCodes, head) }
  }

  /// Fails the request with `.unacceptableContentType` unless the Content-Type is one of these; `*` matches any.
  @discardableResult public func validate<Types: Sequence>(
    contentType acceptableContentTypes: Types
  ) -> Self where Types.Element == String {
    let acceptable = Array(acceptableContentTypes)
    return validate { _, head in ResponseValidation.contentType(acceptable, head) }
  }

  /// Accepts 200 to 299, and the content types that the request's Accept names.
  @discardableResult public func validate() -> Self {
    validate(statusCode: 200..<300).validate { request, head in
      ResponseValidation.contentType(ResponseValidation.acceptable(request), head)
    }
  }
}
