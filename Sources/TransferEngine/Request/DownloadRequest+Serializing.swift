public import FoundationEssentials
public import HTTPTypes

/// What a download will bring, for `await`. The request begins when this is made, if its session starts requests by itself.
public struct DownloadTask<Value: Sendable>: Sendable {
  private let request: DownloadRequest
  private let task: Task<DownloadResponse<Value, TransferError>, Never>
  private let shouldAutomaticallyCancel: Bool

  init(
    _ request: DownloadRequest, automaticallyCancelling: Bool,
    _ work: @escaping @Sendable (FileResponse) -> DownloadResponse<Value, TransferError>
  ) {
    self.request = request
    shouldAutomaticallyCancel = automaticallyCancelling
    task = Task { work(await request.core.value()) }
  }

  /// The response, after validation and the rename. Where the awaiting task is cancelled the request is too, with its
  /// resume data kept, unless that was declined.
  public var response: DownloadResponse<Value, TransferError> {
    get async {
      guard shouldAutomaticallyCancel else { return await task.value }
      return await withTaskCancellationHandler {
        await task.value
      } onCancel: {
        request.cancel()
      }
    }
  }

  /// The value, or why there is none.
  public var result: Result<Value, TransferError> {
    get async { await response.result }
  }

  /// The value. Throws the request's error, or the serializer's.
  public var value: Value {
    get async throws(TransferError) { try await result.get() }
  }

  /// Starts the request, or lets it go on after `suspend()`.
  public func resume() { request.resume() }
  /// Holds the request's transfer.
  public func suspend() { request.suspend() }
  /// Cancels the request; what is there can be gone on from.
  public func cancel() { request.cancel() }
}

extension DownloadRequest {
  /// - Parameter shouldAutomaticallyCancel: cancelling the awaiting task cancels the request.
  /// - Parameter serializer: makes the value of the answer.
  public func serializingDownload<Serializer: DownloadResponseSerializerProtocol>(
    using serializer: Serializer, automaticallyCancelling shouldAutomaticallyCancel: Bool = true
  ) -> DownloadTask<Serializer.SerializedObject> {
    DownloadTask(self, automaticallyCancelling: shouldAutomaticallyCancel) { $0.serialized(by: serializer) }
  }

  /// The same, for `.data`, `.string`, `.json`.
  public func serializingDownload<Serializer: ResponseSerializer>(
    using serializer: Serializer, automaticallyCancelling shouldAutomaticallyCancel: Bool = true
  ) -> DownloadTask<Serializer.SerializedObject> {
    DownloadTask(self, automaticallyCancelling: shouldAutomaticallyCancel) { $0.serialized(by: serializer) }
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
