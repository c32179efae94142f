/// What follows a failed attempt.
enum AttemptDecision {
  /// Another attempt, at once. It does not count as a retry.
  case attemptAgain
  /// The request ends with this error.
  case end(TransferError)
  /// The retriers decide. `madeProgress`: the attempt received or sent new bytes, so retries are counted from 0 again.
  case askRetriers(request: TransferRequest?, response: ResponseHead?, error: TransferError, madeProgress: Bool = false)
}
