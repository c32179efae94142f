/// A transfer of a whole source that ended before the pipeline that judges it was made.
struct AdoptedUpload: Sendable {
  /// Open since before the request was sent.
  let source: OpenSource
  /// With the session's settings, as a pipeline adapts it.
  let request: TransferRequest
  let outcome: TransferOutcome
  let receiver: UploadReceiver
}
