public import FoundationEssentials
public import TransferAPI

/// An event that a target has not got yet.
public struct PendingDelivery: Equatable, Sendable {
  public var id: Int64
  /// Identifies the event for the receiver; the same at each attempt.
  public var message: String
  /// One of ``DeliveryTargets``.
  public var target: String
  public var event: DeliveryEvent
  /// The job's id or the batch's name, for people.
  public var subject: String
  /// JSON.
  public var payload: String
  public var createdAt: Date
  /// Failed attempts since the target has taken an event. Not 0: the target is in back-off.
  public var attempts: Int
}

extension PendingDelivery {
  init(_ row: inout RowReader) throws {
    id = try row.int64("id")
    row.subject = "the delivery \(id)"
    message = try row.text("message")
    target = try row.text("target")
    event = try row.word("event")
    subject = try row.text("subject")
    payload = try row.text("payload")
    createdAt = try row.date("created_at")
    attempts = try row.int("attempts")
  }
}
