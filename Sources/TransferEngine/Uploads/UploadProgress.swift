/// The progress of an upload, in bytes of the source.
public struct UploadProgress: Sendable, Equatable {
  /// Bytes that were handed to the network or are on the server. May decrease when a connection breaks.
  public var sent: Int64
  /// Bytes that the server has acknowledged. Stays 0 until the end for protocols without acknowledgements.
  public var acknowledged: Int64
  /// The source's size; `nil` before it was opened.
  public var total: Int64?

  /// Bytes sent, bytes acknowledged, and the total.
  public init(sent: Int64 = 0, acknowledged: Int64 = 0, total: Int64? = nil) {
    self.sent = sent
    self.acknowledged = acknowledged
    self.total = total
  }
}
