extension TransferError {
  /// What can go wrong with a body as such, sent or read as a stream.
  public enum BodyFailure: Sendable, Equatable {
    /// The server said yes before the body was sent: nobody can know what it keeps of it.
    case answeredEarly(status: Int, sent: Int64, total: Int64?)
    /// The body would have to be sent again, but is a stream that was not kept.
    case notReplayable
    /// The sequence that the body is made of threw.
    case streamFailed(String)
    /// The sequence that the body is made of brought nothing for the stall timeout.
    case starved
    /// The body was given to another reader already.
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
      "cannot send the body again: it is a stream that was not kept; let it be spooled to survive a retry"
    case .streamFailed(let reason): "cannot send the stream: it failed: \(reason)"
    case .starved: "cannot send the stream: it brought nothing within the stall timeout"
    case .alreadyRead: "cannot read the answer a second time: its stream was given to a reader already"
    }
  }
}
