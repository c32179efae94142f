public import FoundationEssentials
public import HTTPTypes

extension DownloadRequest {
  /// - Parameters:
  ///   - serializer: makes the value of the file.
  ///   - shouldAutomaticallyCancel: cancelling the awaiting task cancels the request.
  public func serializingDownload<Serializer: DownloadResponseSerializerProtocol>(
    using serializer: Serializer, automaticallyCancelling shouldAutomaticallyCancel: Bool = true
  ) -> DownloadTask<Serializer.SerializedObject> {
    DownloadTask(self, automaticallyCancelling: shouldAutomaticallyCancel) { [record = core.record] in
      $0.serialized(by: serializer, record)
    }
  }

  /// The same for `.data`, `.string`, `.json`.
  public func serializingDownload<Serializer: ResponseSerializer>(
    using serializer: Serializer, automaticallyCancelling shouldAutomaticallyCancel: Bool = true
  ) -> DownloadTask<Serializer.SerializedObject> {
    DownloadTask(self, automaticallyCancelling: shouldAutomaticallyCancel) { [record = core.record] in
      $0.serialized(by: serializer, record)
    }
  }

  /// The finished file's path.
  public func serializingFile(
    automaticallyCancelling shouldAutomaticallyCancel: Bool = true
  ) -> DownloadTask<String> {
    DownloadTask(self, automaticallyCancelling: shouldAutomaticallyCancel) { $0 }
  }

  /// The finished file's URL.
  public func serializingDownloadedFileURL(
    automaticallyCancelling shouldAutomaticallyCancel: Bool = true
  ) -> DownloadTask<URL> {
    serializingDownload(using: URLResponseSerializer(), automaticallyCancelling: shouldAutomaticallyCancel)
  }

  /// The file's bytes, read into memory.
  public func serializingData(
    automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
    dataPreprocessor: any DataPreprocessor = DataResponseSerializer.defaultDataPreprocessor,
    emptyResponseCodes: Set<Int> = DataResponseSerializer.defaultEmptyResponseCodes,
    emptyRequestMethods: Set<HTTPRequest.Method> = DataResponseSerializer.defaultEmptyRequestMethods
  ) -> DownloadTask<Data> {
    serializingDownload(
      using: DataResponseSerializer(
        dataPreprocessor: dataPreprocessor, emptyResponseCodes: emptyResponseCodes,
        emptyRequestMethods: emptyRequestMethods),
      automaticallyCancelling: shouldAutomaticallyCancel)
  }

  /// The file's text, read into memory.
  public func serializingString(
    automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
    dataPreprocessor: any DataPreprocessor = StringResponseSerializer.defaultDataPreprocessor,
    encoding: String.Encoding? = nil,
    emptyResponseCodes: Set<Int> = StringResponseSerializer.defaultEmptyResponseCodes,
    emptyRequestMethods: Set<HTTPRequest.Method> = StringResponseSerializer.defaultEmptyRequestMethods
  ) -> DownloadTask<String> {
    serializingDownload(
      using: StringResponseSerializer(
        dataPreprocessor: dataPreprocessor, encoding: encoding, emptyResponseCodes: emptyResponseCodes,
        emptyRequestMethods: emptyRequestMethods),
      automaticallyCancelling: shouldAutomaticallyCancel)
  }

  /// The file decoded as this type.
  public func serializingDecodable<Value: Decodable & Sendable>(
    _ type: Value.Type = Value.self, automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
    dataPreprocessor: any DataPreprocessor = DecodableResponseSerializer<Value>.defaultDataPreprocessor,
    decoder: any DataDecoder = JSONDecoder(),
    emptyResponseCodes: Set<Int> = DecodableResponseSerializer<Value>.defaultEmptyResponseCodes,
    emptyRequestMethods: Set<HTTPRequest.Method> = DecodableResponseSerializer<Value>.defaultEmptyRequestMethods
  ) -> DownloadTask<Value> {
    serializingDownload(
      using: DecodableResponseSerializer<Value>(
        dataPreprocessor: dataPreprocessor, decoder: decoder, emptyResponseCodes: emptyResponseCodes,
        emptyRequestMethods: emptyRequestMethods),
      automaticallyCancelling: shouldAutomaticallyCancel)
  }
}
