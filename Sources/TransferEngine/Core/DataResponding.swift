public import FoundationEssentials

/// A request whose response is kept in memory: `DataRequest` and `UploadRequest`.
public protocol DataResponding: Request {
  /// The engine's side of the handle.
  var responses: DataResponses { get }
}

extension DataResponding {
  public var control: RequestControl { RequestControl(core: responses.core) }

  /// The body, after the request has ended; `nil` before, and if it is empty.
  public var data: Data? { responses.core.output?.data }

  /// Why the request failed; `nil` while it runs and after a success.
  public var error: TransferError? { responses.core.output?.error }
}

// MARK: - Validation

extension DataResponding {
  /// Fails the request if the closure refuses the response. Validations run in the order in which they were added,
  /// after the response arrived and before retriers are asked; the first failure ends them. Without validations every
  /// status is a success.
  @discardableResult public func validate(_ validation: @escaping DataRequest.Validation) -> Self {
    responses.core.validate(validation)
    return self
  }

  /// Fails the request with `.unacceptableStatus` unless the status is one of these.
  @discardableResult public func validate<Statuses: Sequence & Sendable>(
    statusCode acceptableStatusCodes: Statuses
  ) -> Self where Statuses.Element == Int {
    validate { _, head, _ in ResponseValidation.status(acceptableStatusCodes, head) }
  }

  /// Fails the request with `.unacceptableContentType` unless the Content-Type is one of these; `*` matches any. An
  /// empty body always passes.
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
