extension TransferError {
  /// Why a response could not be serialized. The names are those of Alamofire's `ResponseSerializationFailureReason`.
  public enum SerializationFailure: Sendable {
    /// The body is empty, and neither the method nor the status allows that.
    case inputDataNilOrZeroLength
    /// There is no downloaded file.
    case inputFileNil
    /// The downloaded file cannot be read.
    case inputFileReadFailed(at: String, reason: String)
    /// The bytes are not text in this charset, or the charset is unknown.
    case stringSerializationFailed(encoding: String)
    /// The body is not valid JSON.
    case jsonSerializationFailed(error: any Error)
    /// The body is not a property list.
    case propertyListSerializationFailed(error: any Error)
    /// The body does not fit the type; the decoder's error says where.
    case decodingFailed(error: any Error)
    /// A user's serializer threw.
    case customSerializationFailed(error: any Error)
    /// The body is empty, which is allowed, but the type has no empty value; see `EmptyResponse`.
    case invalidEmptyResponse(type: String)
  }

  /// An error that a serializer threw.
  static func ofSerializer(_ error: any Error) -> TransferError {
    error as? TransferError ?? .serialization(.customSerializationFailed(error: error))
  }
}

extension TransferError.SerializationFailure: CustomStringConvertible {
  public var description: String {
    switch self {
    case .inputDataNilOrZeroLength: "cannot read the response: it is empty"
    case .inputFileNil: "cannot read the response: there is no downloaded file"
    case .inputFileReadFailed(let path, let reason): "cannot read the downloaded file \(path): \(reason)"
    case .stringSerializationFailed(let encoding): "cannot read the response as text in the charset \(encoding)"
    case .jsonSerializationFailed(let error): "cannot read the response as JSON: \(CodingText.of(error))"
    case .propertyListSerializationFailed(let error):
      "cannot read the response as a property list: \(CodingText.of(error))"
    case .decodingFailed(let error): "cannot decode the response: \(CodingText.of(error))"
    case .customSerializationFailed(let error): "cannot read the response: \(error)"
    case .invalidEmptyResponse(let type):
      "the response is empty, and \(type) has no empty value; use Empty or conform it to EmptyResponse"
    }
  }
}
