import TransferAPI

extension JobFailure {
  /// The message and the code, for people.
  var text: String { "\(message) (\(code))" }
}
