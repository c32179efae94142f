public import FoundationEssentials

/// A request whose answer is kept in memory: `DataRequest` and `UploadRequest`.
public protocol DataAnswering: Request {
  /// The engine's end of the handle.
  var answers: DataAnswers { get }
}

/// The engine's end of a data request's handle; opaque to everybody else.
public struct DataAnswers: Sendable {
  let core: RequestCore<DataOutcome>
}

extension DataAnswering {
  public var control: RequestControl { RequestControl(core: answers.core) }

  /// What has arrived, once the request has ended.
  public var data: Data? { answers.core.output?.data }

  /// Why the request failed, once it has ended.
  public var error: TransferError? { answers.core.output?.error }
}

/// A request whose answer fits in memory. A POST that is redirected by 301, 302 or 303 goes on as a GET, as in browsers.
public final class DataRequest: DataAnswering {
  /// A check of the answer: the request as it was sent, the head, and the body where there is one.
  public typealias Validation = @Sendable (TransferRequest, ResponseHead, Data?) -> ValidationResult

  public let answers: DataAnswers

  init(core: RequestCore<DataOutcome>) { answers = DataAnswers(core: core) }
}

/// A request that sends a body of any size, from memory, a file, a stream or a form. The answer is kept in memory.
public final class UploadRequest: DataAnswering {
  /// A check of the answer, as for data requests.
  public typealias Validation = DataRequest.Validation

  public let answers: DataAnswers

  init(core: RequestCore<DataOutcome>) { answers = DataAnswers(core: core) }
}

// MARK: - Validation

extension DataAnswering {
  /// Fails the request where the closure says so. Checks run in the order they were added, after the answer arrived and
  /// before any retrier is asked; the first that fails ends them. Without any, every status is a success.
  @discardableResult public func validate(_ validation: @escaping DataRequest.Validation) -> Self {
    answers.core.validate(validation)
    return self
  }

  /// Fails the request with `.unacceptableStatus` unless the status is one of these.
  @discardableResult public func validate<Statuses: Sequence & Sendable>(
    statusCode acceptableStatusCodes: Statuses
  ) -> Self where Statuses.Element == Int {
    validate { _, head, _ in ResponseValidation.status(acceptableStatusCodes, head) }
  }

  /// Fails the request with `.unacceptableContentType` unless the Content-Type is one of these, `*` for any. An empty body
  /// is of every type.
  @discardableResult public func validate<Types: Sequence>(
    contentType acceptableContentTypes: Types
  ) -> Self where Types.Element == String {
    let acceptable = Array(acceptableContentTypes)
    return validate { _, head, data in
      guard let data, !data.isEmpty else { return .success }
      return ResponseValidation.contentType(acceptable, head)
    }
  }

  /// Accepts 200 to 299, and the content types that the request's Accept names.
  @discardableResult public func validate() -> Self {
    validate(statusCode: 200..<300).validate { request, head, data in
      guard let data, !data.isEmpty else { return .success }
      return ResponseValidation.contentType(ResponseValidation.acceptable(request), head)
    }
  }
}
