/// What webhooks are told about.
public enum DeliveryEvent: String, Codable, CaseIterable, Sendable {
  case jobCompleted = "job-completed"
  case jobFailed = "job-failed"
  case batchEnd = "batch-end"
}
