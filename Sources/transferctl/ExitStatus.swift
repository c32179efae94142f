import TransferAPI

/// The exit codes scripts rely on: the contract's table.
enum ExitStatus: Int32, CaseIterable, Sendable {
  /// Done; for `wait`: every awaited job completed.
  case done = 0
  /// The operation, or at least one awaited job, failed or was cancelled.
  case failed = 1
  case unreachable = 3
  case notFound = 4
  case permission = 5
  /// The job is in a state that does not allow this.
  case notAllowed = 6
  case usage = 64
  /// The destination exists, or its directory is missing.
  case cannotCreate = 73
  /// `--timeout` ran out; the jobs go on.
  case timedOut = 124
  /// Interrupted; the jobs go on.
  case interrupted = 130

  init(_ code: Problem.Code) {
    switch code {
    case .invalid: self = .usage
    case .notFound: self = .notFound
    case .permission: self = .permission
    case .notAllowed: self = .notAllowed
    case .destinationExists, .destinationMissing: self = .cannotCreate
    case .unavailable: self = .unreachable
    case .sourceMissing, .tooLarge, .methodNotAllowed, .unsupportedMediaType, .diskFull, .internal: self = .failed
    }
  }
}

/// Ends the program with a status, after a message for people.
struct CommandFailure: Error, Equatable {
  let status: ExitStatus
  /// `nil` where everything was said already.
  let message: String?

  init(_ status: ExitStatus, _ message: String? = nil) {
    self.status = status
    self.message = message
  }

  /// What a thrown error means at the door; `nil` where only the argument parser knows.
  init?(_ error: any Error) {
    switch error {
    case let failure as CommandFailure: self = failure
    case let problem as Problem: self.init(ExitStatus(problem.code), problem.detail)
    case ControlError.unreachable(let reason): self.init(.unreachable, reason)
    case ControlError.unexpected(let reason): self.init(.failed, reason)
    case let fault as FileFault: self.init(fault.status, fault.description)
    case let error as OutputError: self.init(.failed, error.description)
    case let error as WireError: self.init(.usage, error.description)
    case is CancellationError: self.init(.interrupted)
    default: return nil
    }
  }
}
