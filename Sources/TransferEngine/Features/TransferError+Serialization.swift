extension TransferError {
  /// Why an answer could not be read as what was asked for. Names are those of Alamofire's
  /// `ResponseSerializationFailureReason`.
  public enum SerializationFailure: Sendable {
    /// The body is empty, and neither the method nor the status allows that.
    case inputDataNilOrZeroLength
    /// There is no downloaded file.
    case inputFileNil
    /// The downloaded file cannot be read.
    case inputFileReadFailed(at: String, reason: String)
    /// The bytes are no text of this charset, or the charset is not known here.
    case stringSerializationFailed(encoding: String)
    /// The body is no JSON.
    case jsonSerializationFailed(error: any Error)
    /// The body is no property list.
    case propertyListSerializationFailed(error: any Error)
    /// The body is not what the type wants; the decoder's error says where.
    case decodingFailed(error: any Error)
    /// A serializer of the program's own threw.
    case customSerializationFailed(error: any Error)
    /// The body is empty, which is allowed, but the type has no empty value: see `EmptyResponse`.
    case invalidEmptyResponse(type: String)
  }

  /// What a serializer threw.
  static func ofSerializer(_ error: any Error) -> TransferError {
    error as? TransferError ?? .serialization(.customSerializationFailed(error: error))
  }
}

extension TransferError.SerializationFailure: CustomStringConvertible {
  public var description: String {
    switch self {
    case .inputDataNilOrZeroLength: "cannot read the answer: it is empty"
    case .inputFileNil: "cannot read the answer: there is no downloaded file"
    case .inputFileReadFailed(let path, let reason): "cannot read the downloaded file \(path): \(reason)"
    case .stringSerializationFailed(let encoding): "cannot read the answer as text in the charset \(encoding)"
    case .jsonSerializationFailed(let error): "cannot read the answer as JSON: \(CodingText.of(error))"
    case .propertyListSerializationFailed(let error):
      "cannot read the answer as a property list: \(CodingText.of(error))"
    case .decodingFailed(let error): "cannot decode the answer: \(CodingText.of(error))"
    case .customSerializationFailed(let error): "cannot read the answer: \(error)"
    case .invalidEmptyResponse(let type):
      "the answer is empty, and \(type) has no empty value; use Empty or conform it to EmptyResponse"
    }
  }
}
