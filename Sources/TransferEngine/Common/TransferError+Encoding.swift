extension TransferError {
  /// Why parameters could not be encoded. The names are those of Alamofire's `ParameterEncodingFailureReason` and
  /// `ParameterEncoderFailureReason`.
  public enum ParameterFailure: Sendable {
    /// The value is not valid JSON, or the encoder threw.
    case jsonEncodingFailed(error: any Error)
    /// The value is not a property list, or the encoder threw.
    case propertyListEncodingFailed(error: any Error)
    /// The value is neither a dictionary nor a structure, so it has no names for a form or a query.
    case invalidRootObject(String)
    /// An encoder threw.
    case encoderFailed(error: any Error)
    /// The URL is not valid with its new query.
    case invalidURL(reason: String)
  }

  /// Why a form could not be encoded. The names are those of Alamofire's `MultipartEncodingFailureReason`.
  public enum MultipartFailure: Sendable, Equatable {
    /// The URL of a part is not a file URL.
    case bodyPartURLInvalid(url: String)
    /// The file's name cannot be determined.
    case bodyPartFilenameInvalid(in: String)
    /// The file of a part cannot be examined.
    case bodyPartFileNotReachable(at: String, reason: String)
    /// The file of a part is a directory, or not a regular file.
    case bodyPartFileIsDirectory(at: String)
    /// A stream produced another number of bytes than announced.
    case bodyPartInputStreamLengthMismatch(expected: Int64, actual: Int64)
    /// The stream of a part failed.
    case inputStreamReadFailed(reason: String)
    /// The file for the encoded form exists; it was not overwritten.
    case outputStreamFileAlreadyExists(at: String)
    /// A boundary has 1 to 70 characters of a small set (RFC 2046 §5.1.1).
    case invalidBoundary(String)
  }
}

extension TransferError.ParameterFailure: CustomStringConvertible {
  public var description: String {
    switch self {
    case .jsonEncodingFailed(let error): "cannot encode the parameters as JSON: \(CodingText.of(error))"
    case .propertyListEncodingFailed(let error):
      "cannot encode the parameters as a property list: \(CodingText.of(error))"
    case .invalidRootObject(let type):
      "cannot encode \(type) as names and values: give a dictionary or a structure with named fields"
    case .encoderFailed(let error): "cannot encode the parameters: \(CodingText.of(error))"
    case .invalidURL(let reason): "cannot add the parameters to the URL: \(reason)"
    }
  }
}

extension TransferError.MultipartFailure: CustomStringConvertible {
  public var description: String {
    switch self {
    case .bodyPartURLInvalid(let url): "cannot use \(url) for a form: it is not a file URL"
    case .bodyPartFilenameInvalid(let path): "cannot add \(path) to the form: it has no file name"
    case .bodyPartFileNotReachable(let path, let reason): "cannot add \(path) to the form: \(reason)"
    case .bodyPartFileIsDirectory(let path): "cannot add \(path) to the form: it is not a regular file"
    case .bodyPartInputStreamLengthMismatch(let expected, let actual):
      "a stream produced \(actual) bytes for the form, or more; \(expected) were announced"
    case .inputStreamReadFailed(let reason): "cannot read the stream for the form: \(reason)"
    case .outputStreamFileAlreadyExists(let path): "cannot write the form to \(path): it exists"
    case .invalidBoundary(let boundary):
      "cannot use \"\(boundary)\" as a form's boundary: 1 to 70 letters, digits and '()+_,-./:=? are possible"
    }
  }
}
