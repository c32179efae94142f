/// Options for tus.
public struct TusOptions: Sendable, Equatable {
  /// `Upload-Metadata`; `filename` and `filetype` are added if they are missing.
  public var metadata: [String: String]
  /// Bytes of one PATCH; `nil`: one PATCH for the whole rest, unless the server limits it.
  public var chunkSize: Int64?
  /// Partial uploads that run at the same time, if the server supports concatenation and the file has at least 64 MiB.
  /// 1: none.
  public var parallelParts: Int

  /// Options for tus; sizes are bytes.
  public init(metadata: [String: String] = [:], chunkSize: Int64? = nil, parallelParts: Int = 1) {
    self.metadata = metadata
    self.chunkSize = chunkSize
    self.parallelParts = parallelParts
  }
}
