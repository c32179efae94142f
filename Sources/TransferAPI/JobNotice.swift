/// The body of a webhook about a job: the job's fields and the event.
public struct JobNotice: Encodable, Sendable {
  public var event: DeliveryEvent
  public var job: Job

  public init(_ event: DeliveryEvent, _ job: Job) {
    self.event = event
    self.job = job
  }

  private enum CodingKeys: String, CodingKey { case event }

  public func encode(to encoder: any Encoder) throws {
    try job.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(event, forKey: .event)
  }
}
