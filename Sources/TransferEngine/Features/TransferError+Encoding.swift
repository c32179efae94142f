extension TransferError {
  /// Why parameters could not become a query or a body. Names are those of Alamofire's `ParameterEncodingFailureReason`
  /// and `ParameterEncoderFailureReason`.
  public enum ParameterFailure: Sendable {
    /// The value is no JSON, or the encoder refused it.
    case jsonEncodingFailed(error: any Error)
    /// The value is no property list, or the encoder refused it.
    case propertyListEncodingFailed(error: any Error)
    /// A form or a query has names and values; this was neither a dictionary nor a structure.
    case invalidRootObject(String)
    /// An encoder threw.
    case encoderFailed(error: any Error)
    /// The URL with its new query is not a URL.
    case invalidURL(reason: String)
  }

  /// Why a form could not be put together. Names are those of Alamofire's `MultipartEncodingFailureReason`.
  public enum MultipartFailure: Sendable, Equatable {
    /// The URL of a part is no file's.
    case bodyPartURLInvalid(url: String)
    /// The file has no name that could be told.
    case bodyPartFilenameInvalid(in: String)
    /// The file of a part cannot be looked at.
    case bodyPartFileNotReachable(at: String, reason: String)
    /// The part is a directory, or another thing that is no regular file.
    case bodyPartFileIsDirectory(at: String)
    /// A stream brought another number of bytes than was said.
    case bodyPartInputStreamLengthMismatch(expected: Int64, actual: Int64)
    /// The stream that a part is made of failed.
    case inputStreamReadFailed(reason: String)
    /// The name for the form's file is taken; nothing was overwritten.
    case outputStreamFileAlreadyExists(at: String)
    /// A boundary is 1 to 70 characters of a small set (RFC 2046 §5.1.1).
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
      "a stream brought \(actual) bytes for the form, or more; \(expected) were announced"
    case .inputStreamReadFailed(let reason): "cannot read the stream for the form: \(reason)"
    case .outputStreamFileAlreadyExists(let path): "cannot write the form to \(path): it exists"
    case .invalidBoundary(let boundary):
      "cannot use \"\(boundary)\" as a form's boundary: 1 to 70 letters, digits and '()+_,-./:=? are possible"
    }
  }
}

/// What encoders and decoders throw, for people: where and what, no values of the data.
enum CodingText {
  static func of(_ error: any Error) -> String {
    switch error {
    case DecodingError.keyNotFound(let key, let context):
      "there is no \"\(key.stringValue)\"\(place(context.codingPath))"
    case DecodingError.valueNotFound(_, let context): "there is no value\(place(context.codingPath))"
    case DecodingError.typeMismatch(let type, let context):
      "it is not of type \(type)\(place(context.codingPath)): \(context.debugDescription)"
    case DecodingError.dataCorrupted(let context):
      "\(context.debugDescription.isEmpty ? "it cannot be read" : context.debugDescription)\(place(context.codingPath))"
    case EncodingError.invalidValue(_, let context):
      "\(context.debugDescription)\(place(context.codingPath))"
    default: "\(error)"
    }
  }

  private static func place(_ path: [any CodingKey]) -> String {
    guard !path.isEmpty else { return "" }
    var text = ""
    for key in path {
      if let index = key.intValue { text += "[\(index)]" } else { text += (text.isEmpty ? "" : ".") + key.stringValue }
    }
    return " at \(text)"
  }
}
