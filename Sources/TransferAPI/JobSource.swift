/// One of the places from which a download fetches its file, in `show`.
public struct JobSource: Codable, Equatable, Sendable {
  public enum State: String, Codable, Sendable, CaseIterable {
    /// It has not been asked in the last attempt.
    case unused
    /// It is being asked for bytes.
    case active
    /// It was asked in the last attempt, and is not now.
    case used
    /// It was given up in the last attempt; `reason` says why.
    case dropped
  }

  /// Without secrets.
  public var url: String
  public var state: State
  /// Why it was dropped; `nil` if it was not.
  public var reason: String?
  /// Bytes that it has sent in the last attempt.
  public var bytesReceived: Int64
  /// On average while it was asked for bytes; 0 while unknown.
  public var bytesPerSecond: Int64

  public init(
    url: String, state: State = .unused, reason: String? = nil, bytesReceived: Int64 = 0, bytesPerSecond: Int64 = 0
  ) {
    self.url = url
    self.state = state
    self.reason = reason
    self.bytesReceived = bytesReceived
    self.bytesPerSecond = bytesPerSecond
  }

  private enum CodingKeys: String, CodingKey { case url, state, reason, bytesReceived, bytesPerSecond }

  /// Every field is present, with null for a missing reason.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(url, forKey: .url)
    try container.encode(state, forKey: .state)
    try container.encode(reason, forKey: .reason)
    try container.encode(bytesReceived, forKey: .bytesReceived)
    try container.encode(bytesPerSecond, forKey: .bytesPerSecond)
  }
}
