/// What a download knows of one of its sources.
public struct SourceReport: Sendable, Equatable {
  /// What a source does.
  public enum State: String, Sendable, Codable, CaseIterable {
    /// It has not been asked.
    case unused
    /// It is being asked for bytes.
    case active
    /// It was asked, and is not now.
    case used
    /// It is not asked any more in this attempt.
    case dropped
  }

  /// Where the file is. Without userinfo; a query may contain secrets.
  public var url: RequestURL
  /// What the source does.
  public var state: State
  /// Why it was dropped; `nil` if it was not.
  public var reason: String?
  /// Body bytes that it has sent.
  public var bytesReceived: Int64
  /// Bytes per second, on average while it was asked for bytes; 0 while unknown.
  public var bytesPerSecond: Int64
}
