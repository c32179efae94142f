public import FoundationEssentials
public import HTTPTypes

/// What a data request will bring, for `await`. The request begins when this is made, if its session starts requests by
/// itself; the serializer runs once, however many await it.
public struct DataTask<Value: Sendable>: Sendable {
  private let request: any Request
  private let task: Task<DataResponse<Value, TransferError>, Never>
  private let shouldAutomaticallyCancel: Bool

  init(
    _ request: any Request, automaticallyCancelling: Bool,
    _ work: @escaping @Sendable () async -> DataResponse<Value, TransferError>
  ) {
    self.request = request
    shouldAutomaticallyCancel = automaticallyCancelling
    task = Task { await work() }
  }

  /// The response, after validation. Where the awaiting task is cancelled the request is too, unless that was declined.
  public var response: DataResponse<Value, TransferError> {
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
  /// Cancels the request.
  public func cancel() { request.cancel() }
}

extension DataAnswering {
  /// The answer as it came, after validation; starts the request if its session does so. Cancelling the awaiting task does
  /// not cancel the request.
  public func response() async -> DataResponse<Data?, TransferError> { await answers.core.value().plain }

  /// - Parameter shouldAutomaticallyCancel: cancelling the awaiting task cancels the request.
  /// - Parameter serializer: makes the value of the answer.
  public func serializingResponse<Serializer: DataResponseSerializerProtocol>(
    using serializer: Serializer, automaticallyCancelling shouldAutomaticallyCancel: Bool = true
  ) -> DataTask<Serializer.SerializedObject> {
    task(serializer, shouldAutomaticallyCancel)
  }

  /// The same, for `.data`, `.string`, `.json`.
  public func serializingResponse<Serializer: ResponseSerializer>(
    using serializer: Serializer, automaticallyCancelling shouldAutomaticallyCancel: Bool = true
  ) -> DataTask<Serializer.SerializedObject> {
    task(serializer, shouldAutomaticallyCancel)
  }

  private func task<Serializer: DataResponseSerializerProtocol>(
    _ serializer: Serializer, _ shouldAutomaticallyCancel: Bool
  ) -> DataTask<Serializer.SerializedObject> {
    let core = answers.core
    return DataTask(self, automaticallyCancelling: shouldAutomaticallyCancel) {
      await core.value().serialized(by: serializer)
    }
  }

  /// The body's bytes.
  public func serializingData(
    automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
    dataPreprocessor: any DataPreprocessor = DataResponseSerializer.defaultDataPreprocessor,
    emptyResponseCodes: Set<Int> = DataResponseSerializer.defaultEmptyResponseCodes,
    emptyRequestMethods: Set<HTTPRequest.Method> = DataResponseSerializer.defaultEmptyRequestMethods
  ) -> DataTask<Data> {
    serializingResponse(
      using: DataResponseSerializer(
        dataPreprocessor: dataPreprocessor, emptyResponseCodes: emptyResponseCodes,
        emptyRequestMethods: emptyRequestMethods),
      automaticallyCancelling: shouldAutomaticallyCancel)
  }

  /// The body as text, in `encoding`, else the response's charset, else UTF-8.
  public func serializingString(
    automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
    dataPreprocessor: any DataPreprocessor = StringResponseSerializer.defaultDataPreprocessor,
    encoding: String.Encoding? = nil,
    emptyResponseCodes: Set<Int> = StringResponseSerializer.defaultEmptyResponseCodes,
    emptyRequestMethods: Set<HTTPRequest.Method> = StringResponseSerializer.defaultEmptyRequestMethods
  ) -> DataTask<String> {
    serializingResponse(
      using: StringResponseSerializer(
        dataPreprocessor: dataPreprocessor, encoding: encoding, emptyResponseCodes: emptyResponseCodes,
        emptyRequestMethods: emptyRequestMethods),
      automaticallyCancelling: shouldAutomaticallyCancel)
  }

  /// The body decoded as this type.
  public func serializingDecodable<Value: Decodable & Sendable>(
    _ type: Value.Type = Value.self, automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
    dataPreprocessor: any DataPreprocessor = DecodableResponseSerializer<Value>.defaultDataPreprocessor,
    decoder: any DataDecoder = JSONDecoder(),
    emptyResponseCodes: Set<Int> = DecodableResponseSerializer<Value>.defaultEmptyResponseCodes,
    emptyRequestMethods: Set<HTTPRequest.Method> = DecodableResponseSerializer<Value>.defaultEmptyRequestMethods
  ) -> DataTask<Value> {
    serializingResponse(
      using: DecodableResponseSerializer<Value>(
        dataPreprocessor: dataPreprocessor, decoder: decoder, emptyResponseCodes: emptyResponseCodes,
        emptyRequestMethods: emptyRequestMethods),
      automaticallyCancelling: shouldAutomaticallyCancel)
  }
}
