public import Dispatch
public import FoundationEssentials
public import HTTPTypes

/// Handlers. Each is called once, after the rename, in the order in which they were added; without a queue on one of
/// Swift's threads. All serializers except `.url` read the whole file into memory.
extension DownloadRequest {
  /// Calls the handler with the file's URL, without a serializer.
  @discardableResult public func response(
    queue: DispatchQueue? = nil,
    completionHandler: @escaping @Sendable (DownloadResponse<URL?, TransferError>) -> Void
  ) -> Self {
    core.respond { outcome in
      await Handlers.call(completionHandler, with: outcome.with(outcome.result.map { _ in outcome.fileURL }), on: queue)
    }
    return self
  }

  /// Calls the handler with the value that a serializer makes of the file.
  @discardableResult public func response<Serializer: DownloadResponseSerializerProtocol>(
    queue: DispatchQueue? = nil, responseSerializer: Serializer,
    completionHandler: @escaping @Sendable (DownloadResponse<Serializer.SerializedObject, TransferError>) -> Void
  ) -> Self {
    respond(queue, responseSerializer, completionHandler)
  }

  /// The same for `.data`, `.string`, `.json`.
  @discardableResult public func response<Serializer: ResponseSerializer>(
    queue: DispatchQueue? = nil, responseSerializer: Serializer,
    completionHandler: @escaping @Sendable (DownloadResponse<Serializer.SerializedObject, TransferError>) -> Void
  ) -> Self {
    respond(queue, responseSerializer, completionHandler)
  }

  private func respond<Serializer: DownloadResponseSerializerProtocol>(
    _ queue: DispatchQueue?, _ serializer: Serializer,
    _ completionHandler: @escaping @Sendable (DownloadResponse<Serializer.SerializedObject, TransferError>) -> Void
  ) -> Self {
    core.respond { [record = core.record] outcome in
      await Handlers.call(completionHandler, with: outcome.serialized(by: serializer, record), on: queue)
    }
    return self
  }

  /// Calls the handler with the file's URL, after validation and the rename.
  @discardableResult public func responseURL(
    queue: DispatchQueue? = nil, completionHandler: @escaping @Sendable (DownloadResponse<URL, TransferError>) -> Void
  ) -> Self {
    response(queue: queue, responseSerializer: URLResponseSerializer(), completionHandler: completionHandler)
  }

  /// Calls the handler with the file's bytes, which are read into memory.
  @discardableResult public func responseData(
    queue: DispatchQueue? = nil,
    dataPreprocessor: any DataPreprocessor = DataResponseSerializer.defaultDataPreprocessor,
    emptyResponseCodes: Set<Int> = DataResponseSerializer.defaultEmptyResponseCodes,
    emptyRequestMethods: Set<HTTPRequest.Method> = DataResponseSerializer.defaultEmptyRequestMethods,
    completionHandler: @escaping @Sendable (DownloadResponse<Data, TransferError>) -> Void
  ) -> Self {
    let serializer = DataResponseSerializer(
      dataPreprocessor: dataPreprocessor, emptyResponseCodes: emptyResponseCodes,
      emptyRequestMethods: emptyRequestMethods)
    return response(queue: queue, responseSerializer: serializer, completionHandler: completionHandler)
  }

  /// Calls the handler with the file's text, which is read into memory.
  @discardableResult public func responseString(
    queue: DispatchQueue? = nil,
    dataPreprocessor: any DataPreprocessor = StringResponseSerializer.defaultDataPreprocessor,
    encoding: String.Encoding? = nil,
    emptyResponseCodes: Set<Int> = StringResponseSerializer.defaultEmptyResponseCodes,
    emptyRequestMethods: Set<HTTPRequest.Method> = StringResponseSerializer.defaultEmptyRequestMethods,
    completionHandler: @escaping @Sendable (DownloadResponse<String, TransferError>) -> Void
  ) -> Self {
    let serializer = StringResponseSerializer(
      dataPreprocessor: dataPreprocessor, encoding: encoding, emptyResponseCodes: emptyResponseCodes,
      emptyRequestMethods: emptyRequestMethods)
    return response(queue: queue, responseSerializer: serializer, completionHandler: completionHandler)
  }

  /// Calls the handler with the file decoded as this type.
  @discardableResult public func responseDecodable<Value: Decodable & Sendable>(
    of type: Value.Type = Value.self, queue: DispatchQueue? = nil,
    dataPreprocessor: any DataPreprocessor = DecodableResponseSerializer<Value>.defaultDataPreprocessor,
    decoder: any DataDecoder = JSONDecoder(),
    emptyResponseCodes: Set<Int> = DecodableResponseSerializer<Value>.defaultEmptyResponseCodes,
    emptyRequestMethods: Set<HTTPRequest.Method> = DecodableResponseSerializer<Value>.defaultEmptyRequestMethods,
    completionHandler: @escaping @Sendable (DownloadResponse<Value, TransferError>) -> Void
  ) -> Self {
    let serializer = DecodableResponseSerializer<Value>(
      dataPreprocessor: dataPreprocessor, decoder: decoder, emptyResponseCodes: emptyResponseCodes,
      emptyRequestMethods: emptyRequestMethods)
    return response(queue: queue, responseSerializer: serializer, completionHandler: completionHandler)
  }
}

extension DownloadResponse where Success == String, Failure == TransferError {
  func serialized<Serializer: DownloadResponseSerializerProtocol>(
    by serializer: Serializer, _ record: RequestRecord
  ) -> DownloadResponse<Serializer.SerializedObject, TransferError> {
    let (result, duration) = Handlers.serialize {
      try serializer.serializeDownload(request: request, response: head, fileURL: fileURL, error: error)
    }
    record.notify(.parse(result.failure))
    return with(result, taking: duration)
  }
}
