public import Dispatch
public import FoundationEssentials
public import HTTPTypes

/// Handlers: each is called once, after validation and the last try, in the order they were added; without a queue on one
/// of Swift's threads. The next is called when the one before has returned. One that is added after the end is called too.
extension DataAnswering {
  /// With the answer as it came.
  @discardableResult public func response(
    queue: DispatchQueue? = nil,
    completionHandler: @escaping @Sendable (DataResponse<Data?, TransferError>) -> Void
  ) -> Self {
    answers.core.respond { outcome in
      await Handlers.call(completionHandler, with: outcome.plain, on: queue)
    }
    return self
  }

  /// With what a serializer makes of the answer.
  @discardableResult public func response<Serializer: DataResponseSerializerProtocol>(
    queue: DispatchQueue? = nil, responseSerializer: Serializer,
    completionHandler: @escaping @Sendable (DataResponse<Serializer.SerializedObject, TransferError>) -> Void
  ) -> Self {
    respond(queue, responseSerializer, completionHandler)
  }

  /// The same, for `.data`, `.string`, `.json`.
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
    answers.core.respond { outcome in
      await Handlers.call(completionHandler, with: outcome.serialized(by: serializer), on: queue)
    }
    return self
  }

  /// Calls the handler with the body's bytes, after validation; on the queue where one is given, else on one of
  /// Swift's threads.
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

  /// Calls the handler with the body as text, in `encoding`, else the response's charset, else UTF-8.
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

enum Handlers {
  /// Returns when the handler has.
  static func call<Response: Sendable>(
    _ handler: @escaping @Sendable (Response) -> Void, with response: Response, on queue: DispatchQueue?
  ) async {
    guard let queue else { return handler(response) }
    await withCheckedContinuation { continuation in
      queue.async {
        handler(response)
        continuation.resume()
      }
    }
  }

  /// What a serializer makes of an outcome, and how long that takes.
  static func serialize<Value>(_ work: () throws -> Value) -> (Result<Value, TransferError>, Duration) {
    let began = ContinuousClock.now
    do {
      let value = try work()
      return (.success(value), began.duration(to: .now))
    } catch {
      return (.failure(.ofSerializer(error)), began.duration(to: .now))
    }
  }
}

extension DataOutcome {
  /// The response without a serializer.
  var plain: DataResponse<Data?, TransferError> {
    DataResponse(
      request: request, head: head, data: data, metrics: metrics, result: error.map { .failure($0) } ?? .success(data))
  }

  func serialized<Serializer: DataResponseSerializerProtocol>(
    by serializer: Serializer
  ) -> DataResponse<Serializer.SerializedObject, TransferError> {
    let (result, duration) = Handlers.serialize {
      try serializer.serialize(request: request, response: head, data: data, error: error)
    }
    return DataResponse(
      request: request, head: head, data: data, metrics: metrics, serializationDuration: duration, result: result)
  }
}
