extension Error {
  /// The error as a `TransferError`; `nil` for an error of another type.
  public var asTransferError: TransferError? { self as? TransferError }

  /// Alamofire's name for `asTransferError`.
  public var asAFError: TransferError? { asTransferError }
}

/// Alamofire's questions about an error. For decisions about retries see `code`, `isTransient` and `RetryAdvice`.
extension TransferError {
  /// Whether `cancel()` or the cancellation of the awaiting task ended the request.
  public var isExplicitlyCancelledError: Bool { isCancellation }

  /// Whether the URL cannot be used.
  public var isInvalidURLError: Bool {
    switch self {
    case .invalidURL, .unsupportedScheme: true
    default: false
    }
  }

  /// Whether there was no connection, or it failed during the transfer. Not for failures of the server's identity.
  public var isSessionTaskError: Bool {
    switch self {
    case .connection, .remote, .transport, .response(.truncated): true
    default: false
    }
  }

  /// Whether the request could not be described: its `URLRequestConvertible`, `URLConvertible` or modifier threw.
  public var isCreateURLRequestError: Bool { isHook(.convertible) }

  /// Whether an adapter threw.
  public var isRequestAdaptationError: Bool { isHook(.adapter) }

  /// Whether a retrier ended the request with an error of its own.
  public var isRequestRetryError: Bool { isHook(.retrier) }

  /// Whether a validation refused the response.
  public var isResponseValidationError: Bool {
    switch self {
    case .response(.unacceptableStatus), .response(.unacceptableContentType): true
    default: isHook(.validation)
    }
  }

  /// Whether a serializer failed.
  public var isResponseSerializationError: Bool { if case .serialization = self { true } else { false } }

  /// Whether parameters could not be encoded.
  public var isParameterEncodingError: Bool { if case .parameters = self { true } else { false } }

  /// Alamofire distinguishes encodings and encoders; this error does not.
  public var isParameterEncoderError: Bool { isParameterEncodingError }

  /// Whether a form could not be encoded.
  public var isMultipartEncodingError: Bool { if case .multipart = self { true } else { false } }

  /// Whether the server's identity could not be verified.
  public var isServerTrustEvaluationError: Bool { if case .serverTrust = self { true } else { false } }

  /// Whether the downloaded file could not be written, or could not get its name.
  public var isDownloadedFileMoveError: Bool { if case .file = self { true } else { false } }

  /// Whether the body of an upload could not be made or read.
  public var isCreateUploadableError: Bool {
    switch self {
    case .source, .body(.streamFailed): true
    default: false
    }
  }

  /// The status that a validation did not accept; `nil` for other failures.
  public var responseCode: Int? { status }

  /// The content type that a validation did not accept; `nil` for other failures, and for a response without a type.
  public var responseContentType: String? {
    if case .response(.unacceptableContentType(let type, _)) = self { type } else { nil }
  }

  /// The content types that a validation accepts; `nil` for failures that do not concern the content type.
  public var acceptableContentTypes: [String]? {
    if case .response(.unacceptableContentType(_, let acceptable)) = self { acceptable } else { nil }
  }

  /// The error of the user's code, an encoder or a decoder that caused this one; `nil` where the engine found the failure.
  public var underlyingError: (any Error)? {
    switch self {
    case .hook(_, let error): error
    case .parameters(let failure): failure.underlyingError
    case .serialization(let failure): failure.underlyingError
    default: nil
    }
  }

  /// The text that could not be used as a URL, without userinfo and query; `nil` for other failures.
  public var failedURL: String? { if case .invalidURL(let text, _) = self { text } else { nil } }

  private func isHook(_ hook: Hook) -> Bool { if case .hook(hook, _) = self { true } else { false } }
}

extension TransferError.ParameterFailure {
  fileprivate var underlyingError: (any Error)? {
    switch self {
    case .jsonEncodingFailed(let error), .propertyListEncodingFailed(let error), .encoderFailed(let error): error
    case .invalidRootObject, .invalidURL: nil
    }
  }
}

extension TransferError.SerializationFailure {
  fileprivate var underlyingError: (any Error)? {
    switch self {
    case .jsonSerializationFailed(let error), .propertyListSerializationFailed(let error), .decodingFailed(let error),
      .customSerializationFailed(let error):
      error
    case .inputDataNilOrZeroLength, .inputFileNil, .inputFileReadFailed, .stringSerializationFailed,
      .invalidEmptyResponse:
      nil
    }
  }
}
