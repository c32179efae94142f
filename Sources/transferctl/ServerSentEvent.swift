/// One event of a `text/event-stream`.
struct ServerSentEvent: Equatable, Sendable {
  var name = "message"
  var data = ""
  /// The id of this event, or of the last event that had one.
  var id: String?
}
