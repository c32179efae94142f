extension TransferError {
  /// What can go wrong with a body that is sent, or read as a stream.
  public enum BodyFailure: Sendable, Equatable {
    /// The server reported success before the body was sent: it is unknown what it stored.
    case answeredEarly(status: Int, sent: Int64, total: Int64?)
    /// The body must be sent again, but it is a stream that was not stored.
    case notReplayable
    /// The sequence that provides the body threw.
    case streamFailed(String)
    /// The sequence that provides the body produced nothing for the stall timeout.
    case starved
    /// The body already has another reader.
    case alreadyRead
  }
}

extension TransferError.BodyFailure: CustomStringConvertible {
  public var description: String {
    switch self {
    case .answeredEarly(let status, let sent, let total):
      "the server answered \(status)\(StatusText.phrase(status)) when only \(sent) bytes"
        + (total.map { " of \($0)" } ?? "") + " were sent: what it keeps is unknown"
    case .notReplayable:
      "cannot send the body again: it is a stream that was not stored; use StreamReplay.spooled to allow retries"
    case .streamFailed(let reason): "cannot send the stream: it failed: \(reason)"
    case .starved: "cannot send the stream: it produced nothing within the stall timeout"
    case .alreadyRead: "cannot read the response a second time: its stream already has a reader"
    }
  }
}
