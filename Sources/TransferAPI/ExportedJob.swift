/// One line of `export` and of the body that `import` sends: the request for the job, and its state.
public struct ExportedJob: Codable, Equatable, Sendable {
  /// Without secrets: userinfo and secret headers are left out, so an import may need them added again.
  public var request: NewJob
  public var state: JobState
  /// Names of secrets that were left out of `request` without a mark (`***`), for people; `nil` if there are none.
  public var omitted: [String]?

  public init(request: NewJob, state: JobState, omitted: [String]? = nil) {
    self.request = request
    self.state = state
    self.omitted = omitted
  }
}
