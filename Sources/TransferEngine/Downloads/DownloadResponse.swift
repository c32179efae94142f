public import FoundationEssentials

/// The outcome of a download, with the value that a serializer made of the file.
public struct DownloadResponse<Success: Sendable, Failure: Error>: Sendable {
  /// The last request: adapted and redirected as it was sent; if adapting failed, as it was described. `nil` if it
  /// could not be described.
  public var request: TransferRequest?
  /// The head of the last response; `nil` if there was none.
  public var head: ResponseHead?
  /// The finished file's absolute path.
  public var filePath: String?
  /// What a later download needs to resume this one; `nil` after a success, and if nothing can be resumed. The bytes
  /// that it counts are synced to disk.
  public var resumeData: ResumeData?
  /// One for each transfer, redirects and repeated requests included, in order.
  public var metrics: [TransferMetrics]
  /// How long the serializer took.
  public var serializationDuration = Duration.zero
  /// The value, or why there is none.
  public var result: Result<Success, Failure>
  /// The number of bytes with which the last attempt began.
  public var resumedFrom: Int64
  /// Body bytes of the file that arrived over the network, including those that were fetched again.
  public var bytesReceived: Int64
  /// Bytes in the part file or in the finished file.
  public var bytesOnDisk: Int64
  /// The file's length in bytes; `nil` if the server did not announce it.
  public var totalBytes: Int64?
  /// The origin of the last response, after redirects.
  public var respondingOrigin: String?
  /// How the file was found to be complete; `nil` after a failure, and if no file was fetched.
  public var verification: Verification?
  /// What the download has done; only after a success.
  public var outcome = FileOutcome.transferred
  /// Identifies the file as it was when it got its name; only after a success, and only if it was transferred outside of a group.
  public var version: SourceIdentity?
  /// The version that is at the destination now; only for a download with `knownVersions`, after a success.
  public var record: FileRecord?

  /// How the file was found to be complete.
  public typealias Verification = DownloadVerification

  init(result: Result<Success, Failure>) {
    self.result = result
    metrics = []
    resumedFrom = 0
    bytesReceived = 0
    bytesOnDisk = 0
  }

  /// The head, under Alamofire's name.
  public var response: ResponseHead? { head }

  /// The finished file.
  public var fileURL: URL? { filePath.map { URL(fileURLWithPath: $0) } }

  /// The value; `nil` if the download or its serializer failed.
  public var value: Success? { try? result.get() }

  /// Why there is no value; `nil` after a success.
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
    other.outcome = outcome
    other.version = version
    other.record = record
    return other
  }

  /// The same response with its value changed.
  public func map<NewSuccess: Sendable>(
    _ transform: (Success) -> NewSuccess
  ) -> DownloadResponse<NewSuccess, Failure> { with(result.map(transform)) }

  /// The same response with its value changed; an error that the closure throws becomes the failure.
  public func tryMap<NewSuccess: Sendable>(
    _ transform: (Success) throws -> NewSuccess
  ) -> DownloadResponse<NewSuccess, any Error> { with(result.tryMap(transform)) }

  /// The same response with its error changed.
  public func mapError<NewFailure: Error>(
    _ transform: (Failure) -> NewFailure
  ) -> DownloadResponse<Success, NewFailure> { with(result.mapError(transform)) }

  /// The same response with its error changed; an error that the closure throws becomes the failure.
  public func tryMapError<NewFailure: Error>(
    _ transform: (Failure) throws -> NewFailure
  ) -> DownloadResponse<Success, any Error> { with(result.tryMapError(transform)) }
}

extension DownloadResponse where Success == String, Failure == TransferError {
  /// A download that failed before a request was sent.
  public init(failing error: TransferError) { self.init(result: .failure(error)) }
}

extension DownloadResponse: RequestOutput where Success == String, Failure == TransferError {
  typealias Validation = DownloadCheck
}

extension DownloadResponse: CustomStringConvertible, CustomDebugStringConvertible {
  /// Whether it succeeded, and with what type or error.
  public var description: String { ResponseText.result(result) }

  /// Request, head, file, times and result, line by line, without queries and field values that may be secret.
  public var debugDescription: String {
    let file = filePath ?? resumeData.map { "\($0.partialFile.name), which can be resumed" } ?? "none"
    return ResponseText.lines(
      request, head, body: "\(bytesOnDisk) bytes in \(file)", metrics, serializationDuration, result)
  }
}
