public import FoundationEssentials
import HTTPTypes

/// How a request whose answer is kept in memory ended, and what a serializer made of it.
public struct DataResponse<Success: Sendable, Failure: Error>: Sendable {
  /// What was sent last, adapted, after redirects; `nil` where nothing was.
  public var request: TransferRequest?
  /// The final head, where there was one.
  public var head: ResponseHead?
  /// The body, the whole of it unless the request failed; `nil` where there was none.
  public var data: Data?
  /// One for each transfer, redirects and tries included, the last one last.
  public var metrics: [TransferMetrics]
  /// How long the serializer took.
  public var serializationDuration: Duration
  /// The value, or why there is none.
  public var result: Result<Success, Failure>

  /// A response as a test makes it.
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

  /// Alamofire's name for the head.
  public var response: ResponseHead? { head }

  /// The value; `nil` where the request or its serializer failed.
  public var value: Success? { try? result.get() }

  /// Why there is no value.
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

  /// What the closure throws becomes the failure.
  public func tryMap<NewSuccess: Sendable>(
    _ transform: (Success) throws -> NewSuccess
  ) -> DataResponse<NewSuccess, any Error> { with(result.tryMap(transform)) }

  /// The same response with its error changed.
  public func mapError<NewFailure: Error>(
    _ transform: (Failure) -> NewFailure
  ) -> DataResponse<Success, NewFailure> { with(result.mapError(transform)) }

  /// What the closure throws becomes the failure.
  public func tryMapError<NewFailure: Error>(
    _ transform: (Failure) throws -> NewFailure
  ) -> DataResponse<Success, any Error> { with(result.tryMapError(transform)) }
}

extension DataResponse: CustomStringConvertible, CustomDebugStringConvertible {
  /// Whether it succeeded, and with what type or error.
  public var description: String { ResponseText.result(result) }

  /// Request, head, body, times and result, line by line, without queries, field values that may be secret, or bodies.
  public var debugDescription: String {
    ResponseText.lines(
      request, head, body: data.map { "\($0.count) bytes" } ?? "none", metrics, serializationDuration, result)
  }
}

extension Result {
  /// What the closure throws becomes the failure.
  func tryMap<NewSuccess>(_ transform: (Success) throws -> NewSuccess) -> Result<NewSuccess, any Error> {
    Result<NewSuccess, any Error> { try transform(try get()) }
  }

  /// What the closure throws becomes the failure.
  func tryMapError<NewFailure: Error>(_ transform: (Failure) throws -> NewFailure) -> Result<Success, any Error> {
    switch self {
    case .success(let value): return .success(value)
    case .failure(let error):
      do { return .failure(try transform(error)) } catch { return .failure(error) }
    }
  }
}

/// Responses as text for people and logs.
enum ResponseText {
  /// Fields whose values may be shown; of all others only the names are.
  private static let harmless: Set<HTTPField.Name> = [
    .contentType, .contentLength, .contentRange, .contentEncoding, .acceptRanges, .date, .server, .retryAfter,
    .transferEncoding, .eTag, .lastModified,
  ]

  static func result<Success, Failure: Error>(_ result: Result<Success, Failure>) -> String {
    switch result {
    case .success: "success(\(Success.self))"
    case .failure(let error): "failure(\(error))"
    }
  }

  static func head(_ head: ResponseHead) -> String {
    let fields = head.headers.map { field in
      harmless.contains(field.name) ? "\(field.name): \(field.value)" : "\(field.name): …"
    }
    return (["\(head.version) \(head.status)"] + fields).joined(separator: "\n    ")
  }

  static func lines<Success, Failure: Error>(
    _ request: TransferRequest?, _ head: ResponseHead?, body: String, _ metrics: [TransferMetrics],
    _ serialization: Duration, _ result: Result<Success, Failure>
  ) -> String {
    let network = metrics.reduce(Duration.zero) { $0 + $1.total }  // checked: times that passed
    return """
      [Request]: \(request?.description ?? "none")
      [Response]: \(head.map(Self.head) ?? "none")
      [Body]: \(body)
      [Network Duration]: \(network.inSeconds) s in \(metrics.count) transfers
      [Serialization Duration]: \(serialization.inSeconds) s
      [Result]: \(Self.result(result))
      """
  }
}
