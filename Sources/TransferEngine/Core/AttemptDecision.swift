/// What follows a failed attempt. `madeProgress`: the attempt received or sent new bytes, so retries are counted from 0 again.
enum AttemptDecision {
  /// Another attempt, at once. It does not count as a retry.
  case attemptAgain(madeProgress: Bool = false)
  /// The request ends with this error.
  case end(TransferError)
  /// The retriers decide.
  case askRetriers(request: TransferRequest?, response: ResponseHead?, error: TransferError, madeProgress: Bool = false)
}
