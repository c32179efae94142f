/// The jobs that a verb applies to: some ids, a batch, a state, or all.
public enum JobSelector: Equatable, Sendable {
  case ids([JobID])
  case batch(String)
  case state(JobState)
  case all

  /// The most ids of one request: each of them may have a problem of its own in the response.
  public static let maximumIDs = 100_000
}

extension JobSelector: Codable {
  private enum CodingKeys: String, CodingKey { case ids, batch, state, all }

  /// - Throws: `WireError` unless exactly one field is there.
  public init(from decoder: any Decoder) throws {
    try decoder.refuseUnknownFields(besides: CodingKeys.self)
    let container = try decoder.container(keyedBy: CodingKeys.self)
    guard container.allKeys.count == 1, let key = container.allKeys.first else {
      throw WireError("a selector has exactly one of ids, batch, state and all")
    }
    switch key {
    case .ids: self = .ids(try container.decode([JobID].self, forKey: .ids))
    case .batch: self = .batch(try container.decode(String.self, forKey: .batch))
    case .state: self = .state(try container.decode(JobState.self, forKey: .state))
    case .all:
      guard try container.decode(Bool.self, forKey: .all) else {
        throw WireError("the selector all must be true or absent")
      }
      self = .all
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    switch self {
    case .ids(let ids): try container.encode(ids, forKey: .ids)
    case .batch(let name): try container.encode(name, forKey: .batch)
    case .state(let state): try container.encode(state, forKey: .state)
    case .all: try container.encode(true, forKey: .all)
    }
  }
}
