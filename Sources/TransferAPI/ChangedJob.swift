/// The response to `PATCH /v1/jobs/{id}`: the changed job, and the secrets that the change dropped. In JSON the dropped
/// secrets are fields of the job, present only if there are any.
public struct ChangedJob: Codable, Equatable, Sendable {
  public var job: Job
  /// Headers that were given for another server, and look like secrets: the new address does not get them.
  public var droppedHeaders: [String]
  /// Whether the place where user name and password are looked up was dropped, because it was given for another server.
  public var droppedCredentials: Bool

  public init(job: Job, droppedHeaders: [String] = [], droppedCredentials: Bool = false) {
    self.job = job
    self.droppedHeaders = droppedHeaders
    self.droppedCredentials = droppedCredentials
  }

  private enum CodingKeys: String, CodingKey { case droppedHeaders, droppedCredentials }

  public init(from decoder: any Decoder) throws {
    job = try Job(from: decoder)
    let container = try decoder.container(keyedBy: CodingKeys.self)
    droppedHeaders = try container.decodeIfPresent([String].self, forKey: .droppedHeaders) ?? []
    droppedCredentials = try container.decodeIfPresent(Bool.self, forKey: .droppedCredentials) ?? false
  }

  public func encode(to encoder: any Encoder) throws {
    try job.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    if !droppedHeaders.isEmpty { try container.encode(droppedHeaders, forKey: .droppedHeaders) }
    if droppedCredentials { try container.encode(true, forKey: .droppedCredentials) }
  }
}
