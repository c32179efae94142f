import TransferAPI

/// The exit statuses on which scripts rely: docs/cli.md.
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
  /// `--timeout` expired; the jobs continue.
  case timedOut = 124
  /// Interrupted; the jobs continue.
  case interrupted = 130

  init(_ code: Problem.Code) {
    switch code {
    case .invalid: self = .usage
    case .notFound: self = .notFound
    case .permission: self = .permission
    case .notAllowed: self = .notAllowed
    case .destinationExists, .destinationMissing: self = .cannotCreate
    case .unavailable: self = .unreachable
    case .sourceMissing, .fileMissing, .tooLarge, .methodNotAllowed, .unsupportedMediaType, .diskFull, .internal:
      self = .failed
    }
  }
}
