public import FoundationEssentials

/// The outcome of a request whose response is kept in memory, with the value that a serializer made of it.
public struct DataResponse<Success: Sendable, Failure: Error>: Sendable {
  /// The last request: adapted and redirected as it was sent; if adapting failed, as it was described. `nil` if it
  /// could not be described.
  public var request: TransferRequest?
  /// The head of the last response; `nil` if there was none.
  public var head: ResponseHead?
  /// The body, incomplete if the request failed; `nil` if it is empty.
  public var data: Data?
  /// One for each transfer, redirects and retries included, in order.
  public var metrics: [TransferMetrics]
  /// How long the serializer took.
  public var serializationDuration: Duration
  /// The value, or why there is none.
  public var result: Result<Success, Failure>

  /// A response made by hand, for example by a test.
  public init(
    request: TransferRequest?, head: ResponseHead?, data: Data?, metrics: [TransferMetrics] = [],
    serializationDuration: Duration = .zero, result: Result<Success, Failure>
  ) {
    self.request = request
    self.head = head
    self.data = data
    self.metrics = metrics
    self.serializationDuration = serializationDuration
    self.result = result
  }

  /// The head, under Alamofire's name.
  public var response: ResponseHead? { head }

  /// The value; `nil` if the request or its serializer failed.
  public var value: Success? { try? result.get() }

  /// Why there is no value; `nil` after a success.
  public var error: Failure? { if case .failure(let error) = result { error } else { nil } }

  private func with<NewSuccess, NewFailure>(
    _ result: Result<NewSuccess, NewFailure>
  ) -> DataResponse<NewSuccess, NewFailure> {
    DataResponse<NewSuccess, NewFailure>(
      request: request, head: head, data: data, metrics: metrics, serializationDuration: serializationDuration,
      result: result)
  }

  /// The same response with its value changed.
  public func map<NewSuccess: Sendable>(
    _ transform: (Success) -> NewSuccess
  ) -> DataResponse<NewSuccess, Failure> { with(result.map(transform)) }

  /// The same response with its value changed; an error that the closure throws becomes the failure.
  public func tryMap<NewSuccess: Sendable>(
    _ transform: (Success) throws -> NewSuccess
  ) -> DataResponse<NewSuccess, any Error> { with(result.tryMap(transform)) }

  /// The same response with its error changed.
  public func mapError<NewFailure: Error>(
    _ transform: (Failure) -> NewFailure
  ) -> DataResponse<Success, NewFailure> { with(result.mapError(transform)) }

  /// The same response with its error changed; an error that the closure throws becomes the failure.
  public func tryMapError<NewFailure: Error>(
    _ transform: (Failure) throws -> NewFailure
  ) -> DataResponse<Success, any Error> { with(result.tryMapError(transform)) }
}

extension DataResponse: CustomStringConvertible, CustomDebugStringConvertible {
  /// Success with the value's type, or failure with the error.
  public var description: String { ResponseText.result(result) }

  /// Request, head, body's size, times and result, one on each line; without queries, bodies, and field values that may
  /// be secret.
  public var debugDescription: String {
    ResponseText.lines(
      request, head, body: data.map { "\($0.count) bytes" } ?? "none", metrics, serializationDuration, result)
  }
}

extension Result {
  var failure: Failure? { if case .failure(let error) = self { error } else { nil } }

  /// An error that the closure throws becomes the failure.
  func tryMap<NewSuccess>(_ transform: (Success) throws -> NewSuccess) -> Result<NewSuccess, any Error> {
    Result<NewSuccess, any Error> { try transform(try get()) }
  }

  /// An error that the closure throws becomes the failure.
  func tryMapError<NewFailure: Error>(_ transform: (Failure) throws -> NewFailure) -> Result<Success, any Error> {
    switch self {
    case .success(let value): return .success(value)
    case .failure(let error):
      do { return .failure(try transform(error)) } catch { return .failure(error) }
    }
  }
}
