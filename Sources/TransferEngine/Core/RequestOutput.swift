/// The outcome of a request.
protocol RequestOutput: Sendable {
  /// The validations that users can add.
  associatedtype Validation: Sendable
}
