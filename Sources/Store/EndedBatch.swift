/// A batch in which nothing is unfinished, whose end is not reported yet.
public struct EndedBatch: Equatable, Sendable {
  /// Identifies this end among all ends of the batch.
  public var id: Int64
  public var batch: BatchID
}
