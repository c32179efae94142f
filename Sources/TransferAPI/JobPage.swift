/// One page of `GET /v1/jobs`, ordered by id.
public struct JobPage: Codable, Equatable, Sendable {
  public var jobs: [Job]
  /// Pass as `after` for the next page; `nil` on the last.
  public var next: JobID?

  public init(jobs: [Job], next: JobID?) {
    self.jobs = jobs
    self.next = next
  }
}
