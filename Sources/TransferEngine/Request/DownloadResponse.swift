public import FoundationEssentials

/// How a download ended, and what a serializer made of the file.
public struct DownloadResponse<Success: Sendable, Failure: Error>: Sendable {
  /// What was sent last, adapted, after redirects; `nil` where nothing was.
  public var request: TransferRequest?
  /// The final response's head, where there was one.
  public var head: ResponseHead?
  /// The finished file's absolute path.
  public var filePath: String?
  /// There unless the download succeeded or has nothing to go on from. The bytes it counts are on the disk.
  public var resumeData: ResumeData?
  /// One for each transfer, redirects and repeated questions included, the last one last.
  public var metrics: [TransferMetrics]
  /// How long the serializer took.
  public var serializationDuration = Duration.zero
  /// The value, or why there is none.
  public var result: Result<Success, Failure>
  /// Where the last attempt went on from.
  public var resumedFrom: Int64
  /// Body bytes of the file that arrived over the network, those fetched again included.
  public var bytesReceived: Int64
  /// Bytes in the part file or, at the end, the file.
  public var bytesOnDisk: Int64
  /// The file's length in bytes, as the server said it; `nil` where it did not.
  public var totalBytes: Int64?
  /// The origin that answered, after redirects.
  public var respondingOrigin: String?
  /// How it is known that the file is whole.
  public var verification: Verification?

  /// How it was made sure that the file is whole.
  public typealias Verification = DownloadVerification

  init(result: Result<Success, Failure>) {
    self.result = result
    metrics = []
    resumedFrom = 0
    bytesReceived = 0
    bytesOnDisk = 0
  }

  /// Alamofire's name for the head.
  public var response: ResponseHead? { head }

  /// The finished file.
  public var fileURL: URL? { filePath.map { URL(fileURLWithPath: $0) } }

  /// The value; `nil` where the download or its serializer failed.
  public var value: Success? { try? result.get() }

  /// Why there is no value.
  public var error: Failure? { if case .failure(let error) = result { error } else { nil } }

  func with<NewSuccess, NewFailure>(
    _ result: Result<NewSuccess, NewFailure>, taking duration: Duration = .zero
  ) -> DownloadResponse<NewSuccess, NewFailure> {
    var other = DownloadResponse<NewSuccess, NewFailure>(result: result)
    other.request = request
    other.head = head
    other.filePath = filePath
    other.resumeData = resumeData
    other.metrics = metrics
    other.serializationDuration = serializationDuration + duration
    other.resumedFrom = resumedFrom
    other.bytesReceived = bytesReceived
    other.bytesOnDisk = bytesOnDisk
    other.totalBytes = totalBytes
    other.respondingOrigin = respondingOrigin
    other.verification = verification
    return other
  }

  /// The same response with its value changed.
  public func map<NewSuccess: Sendable>(
    _ transform: (Success) -> NewSuccess
  ) -> DownloadResponse<NewSuccess, Failure> { with(result.map(transform)) }

  /// What the closure throws becomes the failure.
  public func tryMap<NewSuccess: Sendable>(
    _ transform: (Success) throws -> NewSuccess
  ) -> DownloadResponse<NewSuccess, any Error> { with(result.tryMap(transform)) }

  /// The same response with its error changed.
  public func mapError<NewFailure: Error>(
    _ transform: (Failure) -> NewFailure
  ) -> DownloadResponse<Success, NewFailure> { with(result.mapError(transform)) }

  /// What the closure throws becomes the failure.
  public func tryMapError<NewFailure: Error>(
    _ transform: (Failure) throws -> NewFailure
  ) -> DownloadResponse<Success, any Error> { with(result.tryMapError(transform)) }
}

/// How it is known that a file is whole.
public enum DownloadVerification: String, Sendable, Codable {
  /// Its digest is the one that was expected or that the server declared.
  case digest
  /// Its length is the one that the server said.
  case length
  /// Neither a length nor a digest was to be had: only the connection's end says that it is all.
  case none
}

/// A download's response without a serializer: the finished file's path.
public typealias FileResponse = DownloadResponse<String, TransferError>

extension DownloadResponse where Success == String, Failure == TransferError {
  /// A download that could not even be asked for.
  public init(failing error: TransferError) { self.init(result: .failure(error)) }
}

extension DownloadResponse: RequestOutput where Success == String, Failure == TransferError {
  typealias Validation = DownloadCheck
}

/// A check that a download's user added.
enum DownloadCheck: Sendable {
  /// When the head is there, before any byte is written.
  case head(DownloadRequest.Validation)
  /// When all bytes are there, before the file gets its name.
  case file(DownloadRequest.FileValidation)
}

extension DownloadResponse: CustomStringConvertible, CustomDebugStringConvertible {
  /// Whether it succeeded, and with what type or error.
  public var description: String { ResponseText.result(result) }

  /// Request, head, file, times and result, line by line, without queries and field values that may be secret.
  public var debugDescription: String {
    let file = filePath ?? resumeData.map { "\($0.partialFile.name), to be gone on with" } ?? "none"
    return ResponseText.lines(
      request, head, body: "\(bytesOnDisk) bytes in \(file)", metrics, serializationDuration, result)
  }
}
