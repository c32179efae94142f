import TransferAPI

/// Runs a check of what a client has sent.
/// - Throws: `Problem` with `invalid`, which has the words of the check's error.
@discardableResult
func validated<Value>(_ check: () throws -> Value) throws(Problem) -> Value {
  do {
    return try check()
  } catch {
    throw Problem(.invalid, text: WireCoding.explanation(of: error))
  }
}
