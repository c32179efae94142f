/// The events that webhooks can get.
public enum DeliveryEvent: String, Codable, CaseIterable, Sendable {
  case jobCompleted = "job-completed"
  case jobFailed = "job-failed"
  case batchEnd = "batch-end"
}
