/// The operations that users apply to stored jobs: `POST /v1/jobs:VERB` and `POST /v1/jobs/{id}:VERB`.
public enum JobVerb: String, Codable, CaseIterable, Sendable {
  case pause, resume, cancel, retry, remove

  /// The event that the verb causes; `nil` for `remove`, which is allowed in every state.
  public var event: JobEvent? {
    switch self {
    case .pause: .pause
    case .resume: .resume
    case .cancel: .cancel
    case .retry: .retry
    case .remove: nil
    }
  }
}
