/// A destination that a successful download has left as it is.
struct KeptFile: Sendable {
  /// Its name in the destination's directory.
  var name: String
  var outcome: FileOutcome
  /// What is known of it now; `nil` if changes do not matter.
  var record: FileRecord?
}
