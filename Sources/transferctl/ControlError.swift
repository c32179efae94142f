import TransferAPI

/// A failure of the conversation with the daemon. Errors that the daemon reports are a `Problem`.
enum ControlError: Error, Equatable {
  /// The daemon does not respond, or the connection was lost.
  case unreachable(String)
  /// A response that the control API does not allow.
  case unexpected(String)
}
