/// The progress of a request.
public struct TransferProgress: Sendable, Equatable {
  /// Bytes that have arrived; of a download, bytes in the file.
  public var completed: Int64 = 0
  /// `nil` while it is unknown.
  public var total: Int64?

  /// Bytes so far, and the total; `nil` if it is unknown.
  public init(completed: Int64 = 0, total: Int64? = nil) {
    self.completed = completed
    self.total = total
  }

  /// From 0 to 1; `nil` while the total is unknown. 1 for an empty body.
  public var fractionCompleted: Double? {
    total.map { $0 > 0 ? min(1, Double(completed) / Double($0)) : 1 }
  }
}
