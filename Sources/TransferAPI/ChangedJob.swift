/// The answer to `PATCH /v1/jobs/{id}`: the job as it is now, and what the change took along. In JSON `droppedHeaders` stands
/// beside the job's fields, and only where there is one.
public struct ChangedJob: Codable, Equatable, Sendable {
  public var job: Job
  /// Headers that were given for another server, and look like secrets: the new address does not get them.
  public var droppedHeaders: [String]

  public init(job: Job, droppedHeaders: [String] = []) {
    self.job = job
    self.droppedHeaders = droppedHeaders
  }

  private enum CodingKeys: String, CodingKey { case droppedHeaders }

  public init(from decoder: any Decoder) throws {
    job = try Job(from: decoder)
    let container = try decoder.container(keyedBy: CodingKeys.self)
    droppedHeaders = try container.decodeIfPresent([String].self, forKey: .droppedHeaders) ?? []
  }

  public func encode(to encoder: any Encoder) throws {
    try job.encode(to: encoder)
    guard !droppedHeaders.isEmpty else { return }
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(droppedHeaders, forKey: .droppedHeaders)
  }
}
