/// A finished transfer of a whole source, passed to the pipeline that evaluates its outcome.
struct AdoptedUpload: Sendable {
  /// Open since before the request was sent.
  let source: OpenSource
  /// With the session's settings, as a pipeline adapts it.
  let request: TransferRequest
  let outcome: TransferOutcome
  let receiver: UploadReceiver
}
