import FoundationEssentials

/// A request whose answer is taken piece by piece, as it arrives; serves server-sent events and endless bodies.
///
/// A slow reader slows the server down. The answer has one reader: one sequence, or all handlers together. It may be tried
/// again as long as nobody has seen anything of it. Bodies come as they are sent, without a content coding undone.
public final class DataStreamRequest: Request {
  /// A check of the head, before anything of the body is passed on. Called on the transfer loop's thread; must return
  /// quickly.
  public typealias Validation = @Sendable (TransferRequest, ResponseHead) -> ValidationResult

  let core: RequestCore<StreamOutcome>
  let channel: StreamChannel
  let handlers: StreamHandlers
  /// Whether a handler that throws cancels the request.
  public let automaticallyCancelOnStreamError: Bool

  init(core: RequestCore<StreamOutcome>, channel: StreamChannel, handlers: StreamHandlers, cancelsOnError: Bool) {
    self.core = core
    self.channel = channel
    self.handlers = handlers
    automaticallyCancelOnStreamError = cancelsOnError
  }

  public var control: RequestControl { RequestControl(core: core) }

  /// Why the request failed, once it has ended.
  public var error: TransferError? { core.output?.error }

  /// Starts the request and waits for the response's head, after redirects and validation. Whoever has seen it sees it for
  /// good: the request is not tried again afterwards.
  public func responseHead() async throws(TransferError) -> ResponseHead {
    core.resume()
    return try await channel.head().get()
  }

  /// How the request ended, when it has.
  public func completion() async -> StreamCompletion { await core.value().completion }

  // MARK: Validation

  /// Fails the request where the closure says so of the head; nothing of the body is passed on then.
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

  /// Fails the request with `.unacceptableContentType` unless the Content-Type is one of these, `*` for any.
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

/// How a stream ended.
public struct StreamCompletion: Sendable {
  /// What was sent last, adapted, after redirects; `nil` where nothing was.
  public var request: TransferRequest?
  /// The answer's head; `nil` where none came.
  public var response: ResponseHead?
  /// What each transfer cost, redirects and retries included.
  public var metrics: [TransferMetrics]
  /// `nil` where all of it was passed on.
  public var error: TransferError?
}

struct StreamOutcome: RequestOutput {
  typealias Validation = DataStreamRequest.Validation

  var request: TransferRequest?
  var head: ResponseHead?
  var metrics: [TransferMetrics] = []
  var error: TransferError?

  var completion: StreamCompletion {
    StreamCompletion(request: request, response: head, metrics: metrics, error: error)
  }
}
