public import Dispatch
public import FoundationEssentials
public import HTTPTypes

/// Handlers. Each is called once, after validation and the last attempt, in the order in which they were added; without
/// a queue on one of Swift's threads. The next one is called when the one before has returned. A handler that is added
/// after the end is called too.
extension DataResponding {
  /// Calls the handler with the body, without a serializer.
  @discardableResult public func response(
    queue: DispatchQueue? = nil,
    completionHandler: @escaping @Sendable (DataResponse<Data?, TransferError>) -> Void
  ) -> Self {
    responses.core.respond { outcome in
      await Handlers.call(completionHandler, with: outcome.plain, on: queue)
    }
    return self
  }

  /// Calls the handler with the value that a serializer makes of the response.
  @discardableResult public func response<Serializer: DataResponseSerializerProtocol>(
    queue: DispatchQueue? = nil, responseSerializer: Serializer,
    completionHandler: @escaping @Sendable (DataResponse<Serializer.SerializedObject, TransferError>) -> Void
  ) -> Self {
    respond(queue, responseSerializer, completionHandler)
  }

  /// The same for `.data`, `.string`, `.json`.
  @discardableResult public func response<Serializer: ResponseSerializer>(
    queue: DispatchQueue? = nil, responseSerializer: Serializer,
    completionHandler: @escaping @Sendable (DataResponse<Serializer.SerializedObject, TransferError>) -> Void
  ) -> Self {
    respond(queue, responseSerializer, completionHandler)
  }

  private func respond<Serializer: DataResponseSerializerProtocol>(
    _ queue: DispatchQueue?, _ serializer: Serializer,
    _ completionHandler: @escaping @Sendable (DataResponse<Serializer.SerializedObject, TransferError>) -> Void
  ) -> Self {
    responses.core.respond { [record = responses.core.record] outcome in
      await Handlers.call(completionHandler, with: outcome.serialized(by: serializer, record), on: queue)
    }
    return self
  }

  /// Calls the handler with the body's bytes, after validation; without a queue on one of Swift's threads.
  @discardableResult public func responseData(
    queue: DispatchQueue? = nil,
    dataPreprocessor: any DataPreprocessor = DataResponseSerializer.defaultDataPreprocessor,
    emptyResponseCodes: Set<Int> = DataResponseSerializer.defaultEmptyResponseCodes,
    emptyRequestMethods: Set<HTTPRequest.Method> = DataResponseSerializer.defaultEmptyRequestMethods,
    completionHandler: @escaping @Sendable (DataResponse<Data, TransferError>) -> Void
  ) -> Self {
    let serializer = DataResponseSerializer(
      dataPreprocessor: dataPreprocessor, emptyResponseCodes: emptyResponseCodes,
      emptyRequestMethods: emptyRequestMethods)
    return response(queue: queue, responseSerializer: serializer, completionHandler: completionHandler)
  }

  /// Calls the handler with the body as text, decoded with `encoding`, or else the response's charset, or else UTF-8.
  @discardableResult public func responseString(
    queue: DispatchQueue? = nil,
    dataPreprocessor: any DataPreprocessor = StringResponseSerializer.defaultDataPreprocessor,
    encoding: String.Encoding? = nil,
    emptyResponseCodes: Set<Int> = StringResponseSerializer.defaultEmptyResponseCodes,
    emptyRequestMethods: Set<HTTPRequest.Method> = StringResponseSerializer.defaultEmptyRequestMethods,
    completionHandler: @escaping @Sendable (DataResponse<String, TransferError>) -> Void
  ) -> Self {
    let serializer = StringResponseSerializer(
      dataPreprocessor: dataPreprocessor, encoding: encoding, emptyResponseCodes: emptyResponseCodes,
      emptyRequestMethods: emptyRequestMethods)
    return response(queue: queue, responseSerializer: serializer, completionHandler: completionHandler)
  }

  /// Calls the handler with the body as JSON of any shape.
  @discardableResult public func responseJSON(
    queue: DispatchQueue? = nil,
    completionHandler: @escaping @Sendable (DataResponse<JSONValue, TransferError>) -> Void
  ) -> Self {
    response(queue: queue, responseSerializer: JSONResponseSerializer(), completionHandler: completionHandler)
  }

  /// Calls the handler with the body as a property list of any shape.
  @discardableResult public func responsePropertyList(
    queue: DispatchQueue? = nil,
    completionHandler: @escaping @Sendable (DataResponse<PropertyListValue, TransferError>) -> Void
  ) -> Self {
    response(queue: queue, responseSerializer: PropertyListResponseSerializer(), completionHandler: completionHandler)
  }

  /// Calls the handler with the body decoded as this type.
  @discardableResult public func responseDecodable<Value: Decodable & Sendable>(
    of type: Value.Type = Value.self, queue: DispatchQueue? = nil,
    dataPreprocessor: any DataPreprocessor = DecodableResponseSerializer<Value>.defaultDataPreprocessor,
    decoder: any DataDecoder = JSONDecoder(),
    emptyResponseCodes: Set<Int> = DecodableResponseSerializer<Value>.defaultEmptyResponseCodes,
    emptyRequestMethods: Set<HTTPRequest.Method> = DecodableResponseSerializer<Value>.defaultEmptyRequestMethods,
    completionHandler: @escaping @Sendable (DataResponse<Value, TransferError>) -> Void
  ) -> Self {
    let serializer = DecodableResponseSerializer<Value>(
      dataPreprocessor: dataPreprocessor, decoder: decoder, emptyResponseCodes: emptyResponseCodes,
      emptyRequestMethods: emptyRequestMethods)
    return response(queue: queue, responseSerializer: serializer, completionHandler: completionHandler)
  }
}

extension DataOutcome {
  /// The response without a serializer.
  var plain: DataResponse<Data?, TransferError> {
    DataResponse(
      request: request, head: head, data: data, metrics: metrics, result: error.map { .failure($0) } ?? .success(data))
  }

  func serialized<Serializer: DataResponseSerializerProtocol>(
    by serializer: Serializer, _ record: RequestRecord
  ) -> DataResponse<Serializer.SerializedObject, TransferError> {
    let (result, duration) = Handlers.serialize {
      try serializer.serialize(request: request, response: head, data: data, error: error)
    }
    record.notify(.parse(result.failure))
    return DataResponse(
      request: request, head: head, data: data, metrics: metrics, serializationDuration: duration, result: result)
  }
}
