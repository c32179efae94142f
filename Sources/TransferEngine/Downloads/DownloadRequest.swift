public import FoundationEssentials

/// A download to a file. The handle is cheap to copy and safe to use from any thread.
///
/// The bytes are written to a part file beside the destination. One rename gives the file its name, after length, digest
/// and validations have succeeded.
public final class DownloadRequest: Request {
  /// How the destination may be changed.
  public typealias Options = DownloadOptions

  /// Chooses where the file goes, when the head has arrived and was validated: a file URL and options. Gets a safe name that
  /// the response or the URL suggests, and the head (`nil` for protocols without one). Called in every attempt, on the
  /// transfer loop's thread; must return quickly.
  public typealias Destination =
    @Sendable (_ suggestedName: String, _ response: ResponseHead?) -> (destinationURL: URL, options: Options)

  /// Checks the head, before any byte is written and before stored bytes are replaced.
  public typealias Validation = @Sendable (TransferRequest, ResponseHead) -> ValidationResult

  /// Checks the whole file while it still has the part file's name.
  public typealias FileValidation = @Sendable (TransferRequest, ResponseHead, URL) -> ValidationResult

  let core: RequestCore<FileResponse>

  init(core: RequestCore<FileResponse>) {
    self.core = core
    core.attach(self)
  }

  public var control: RequestControl { RequestControl(core: core) }

  /// What a later download needs to resume this one. Present after a failure or a cancellation that kept the part file.
  public var resumeData: Data? { core.output?.resumeData?.encoded() }

  /// The finished file.
  public var fileURL: URL? { core.output?.fileURL }

  /// Why the download failed; `nil` while it runs and after a success.
  public var error: TransferError? { core.output?.error }

  /// Asks the download to end. One that finishes at this moment stays finished.
  /// - Parameter shouldProduceResumeData: with `true` the part file is kept, and the response has resume data. With `false`,
  ///   as with `cancel()`, the part file is deleted and there is no resume data.
  @discardableResult public func cancel(producingResumeData shouldProduceResumeData: Bool) -> Self {
    core.cancel(dueTo: nil, producingResumeData: shouldProduceResumeData)
    return self
  }

  /// Cancels the download, and calls the handler with the resume data when the bytes are synced to disk; with `nil` if
  /// nothing can be resumed.
  @discardableResult public func cancel(
    byProducingResumeData completionHandler: @escaping @Sendable (_ resumeData: Data?) -> Void
  ) -> Self {
    core.cancel(dueTo: nil, producingResumeData: true)
    let core = core
    Task { completionHandler(await core.value().resumeData?.encoded()) }
    return self
  }

  /// Cancels the download, waits until the bytes are synced to disk, and returns the resume data; `nil` if nothing can be
  /// resumed.
  public func cancelProducingResumeData() async -> Data? {
    core.cancel(dueTo: nil, producingResumeData: true)
    return await core.value().resumeData?.encoded()
  }

  /// The outcome, after validation and the rename. Several tasks may await it. Cancelling the awaiting task does not cancel
  /// the request.
  public func response() async -> FileResponse { await core.value() }

  /// A destination in a directory, with the name that Content-Disposition or else the URL suggests, made safe.
  public static func suggestedDownloadDestination(
    in directory: URL, options: Options = []
  ) -> Destination {
    { name, _ in (directory.appendingPathComponent(name), options) }
  }
}

// MARK: - Validation

extension DownloadRequest {
  /// Fails the download if the closure refuses the head. Then nothing is written, and a part file that can be resumed stays
  /// as it is. Called on the transfer loop's thread for each response that brings bytes of the file; must return quickly.
  /// Validations run in the order in which they were added. A status that is not 2xx fails the download without any.
  @discardableResult public func validate(_ validation: @escaping Validation) -> Self {
    core.validate(.head(validation))
    return self
  }

  /// Fails the download if the closure refuses the whole file, before the file gets its name. Called on one of Swift's
  /// threads after length and digest were verified. Not called if no request was needed.
  @discardableResult public func validate(_ validation: @escaping FileValidation) -> Self {
    core.validate(.file(validation))
    return self
  }

  /// Fails the download with `.unacceptableStatus` unless the status is one of these.
  @discardableResult public func validate<Statuses: Sequence & Sendable>(
    statusCode acceptableStatusCodes: Statuses
  ) -> Self where Statuses.Element == Int {
    validate { _, head in ResponseValidation.status(acceptableStatusCodes, head) }
  }

  /// Fails the download with `.unacceptableContentType` unless the Content-Type is one of these; `*` matches any.
  @discardableResult public func validate<Types: Sequence>(
    contentType acceptableContentTypes: Types
  ) -> Self where Types.Element == String {
    let acceptable = Array(acceptableContentTypes)
    return validate { _, head in ResponseValidation.contentType(acceptable, head) }
  }

  /// Accepts 200 to 299, and the content types that the request's Accept names.
  @discardableResult public func validate() -> Self {
    validate(statusCode: 200..<300).validate { request, head in
      ResponseValidation.contentType(ResponseValidation.acceptable(request), head)
    }
  }
}
