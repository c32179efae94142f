import TransferAPI

/// Ends the program with an exit status, after a message to the user.
struct CommandFailure: Error, Equatable {
  let status: ExitStatus
  /// `nil` if the reason has already been printed.
  let message: String?

  init(_ status: ExitStatus, _ message: String? = nil) {
    self.status = status
    self.message = message
  }

  /// Translates a thrown error; `nil` if it belongs to the argument parser.
  init?(_ error: any Error) {
    switch error {
    case let failure as CommandFailure: self = failure
    case let problem as Problem: self.init(ExitStatus(problem.code), problem.text.namingOptions)
    case ControlError.unreachable(let reason): self.init(.unreachable, reason)
    case ControlError.unexpected(let reason): self.init(.failed, reason)
    case let fault as FileFault: self.init(fault.status, fault.description)
    case let error as OutputError: self.init(.failed, error.description)
    case let error as WireError: self.init(.usage, error.text.namingOptions)
    case is CancellationError: self.init(.interrupted)
    default: return nil
    }
  }
}
