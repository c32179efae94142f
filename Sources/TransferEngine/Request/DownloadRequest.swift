public import FoundationEssentials

/// A download to a file. A handle: cheap to copy, safe from any thread.
///
/// The bytes go into a part file beside the destination; the destination's name appears by one rename, when length,
/// digest and validations are satisfied.
public final class DownloadRequest: Request {
  /// What may be done on the way to the destination.
  public typealias Options = DownloadOptions

  /// Says where the file goes, once the head is there and was validated: a file URL, and what may be done on the way. Gets
  /// a safe name that the response or the URL suggests, and the head (`nil` where the protocol has none). Called on the transfer loop's thread, in every
  /// attempt; must return quickly.
  public typealias Destination =
    @Sendable (_ suggestedName: String, _ response: ResponseHead?) -> (destinationURL: URL, options: Options)

  /// A check of the head, before any byte is written and before bytes that are there are given up for it.
  public typealias Validation = @Sendable (TransferRequest, ResponseHead) -> ValidationResult

  /// A check of the whole file, still under its part file's name.
  public typealias FileValidation = @Sendable (TransferRequest, ResponseHead, URL) -> ValidationResult

  let core: RequestCore<FileResponse>

  init(core: RequestCore<FileResponse>) { self.core = core }

  public var control: RequestControl { RequestControl(core: core) }

  /// What is needed to go on later; there after a failure or a cancel that left something to go on from.
  public var resumeData: Data? { core.output?.resumeData?.encoded() }

  /// The finished file.
  public var fileURL: URL? { core.output?.fileURL }

  /// Why the download failed, once it has ended.
  public var error: TransferError? { core.output?.error }

  /// A request, not an outcome: a download that finishes at this moment stays finished. With `false`, what is there is
  /// given up: the part file goes, and there is no resume data.
  @discardableResult public func cancel(producingResumeData shouldProduceResumeData: Bool) -> Self {
    if !shouldProduceResumeData { core.discard() }
    core.cancel()
    return self
  }

  /// Cancels, and calls the handler with what is needed to go on, when the bytes are on the disk; `nil` where there is
  /// nothing to go on from.
  @discardableResult public func cancel(
    byProducingResumeData completionHandler: @escaping @Sendable (_ resumeData: Data?) -> Void
  ) -> Self {
    core.cancel()
    let core = core
    Task { completionHandler(await core.value().resumeData?.encoded()) }
    return self
  }

  /// Cancels, waits until the bytes are on the disk, and returns what is needed to go on; `nil` where there is nothing
  /// to go on from.
  public func cancelProducingResumeData() async -> Data? {
    core.cancel()
    return await core.value().resumeData?.encoded()
  }

  /// The outcome, after validation and the rename. May be awaited by many. Cancelling the awaiting task does not cancel
  /// the request.
  public func response() async -> FileResponse { await core.value() }

  /// A destination in a directory, under the name that Content-Disposition suggests, else the URL, made safe.
  public static func suggestedDownloadDestination(
    in directory: URL, options: Options = []
  ) -> Destination {
    { name, _ in (directory.appendingPathComponent(name), options) }
  }
}

// MARK: - Validation

extension DownloadRequest {
  /// Fails the download where the closure says so, when the head arrives: nothing is written, and a part file that could
  /// be gone on from stays as it is. Called on the transfer loop's thread, for each answer that brings the file's bytes;
  /// must return quickly. Checks run in the order they were added; statuses that are no success fail without any.
  @discardableResult public func validate(_ validation: @escaping Validation) -> Self {
    core.validate(.head(validation))
    return self
  }

  /// Fails the download where the closure says so of the whole file, before it gets its name. Called on one of Swift's
  /// threads, after length and digest were found right, unless the server was never asked.
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

  /// Fails the download with `.unacceptableContentType` unless the Content-Type is one of these, `*` for any.
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
