public import FoundationEssentials

/// Makes a value of the outcome of a data request. Called once, after validation, never on the transfer loop's thread.
public protocol DataResponseSerializerProtocol<SerializedObject>: Sendable {
  /// The type of the value.
  associatedtype SerializedObject: Sendable

  /// - Parameters:
  ///   - request: the last request; `nil` if there was none.
  ///   - response: the head of the last response.
  ///   - data: the body; `nil` if there was none.
  ///   - error: the request's failure; a serializer should throw it.
  /// - Throws: anything; an error that is not a `TransferError` becomes `.serialization(.customSerializationFailed)`.
  func serialize(
    request: TransferRequest?, response: ResponseHead?, data: Data?, error: TransferError?
  ) throws -> SerializedObject
}
