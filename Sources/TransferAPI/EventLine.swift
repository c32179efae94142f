/// Writes events as lines of JSON, byte for byte as `WireCoding` does, but without a coder: a watcher of a list gets an event
/// for each of its jobs.
public struct EventLine: Sendable {
  public init() {}

  /// Appends an event and a newline. Fields without a value are left out.
  public func write(_ event: Event, to text: inout JSONText) throws {
    text.literal("{\"at\":")
    text.date(event.at)
    if let error = event.error {
      text.literal(",\"error\":")
      try text.rare(error)
    }
    if let from = event.from {
      text.literal(",\"from\":")
      text.string(from.rawValue)
    }
    text.literal(",\"job\":")
    text.number(event.job.rawValue)
    text.literal(",\"kind\":")
    text.string(event.kind.rawValue)
    if let reason = event.reason {
      text.literal(",\"reason\":")
      text.string(reason)
    }
    if let result = event.result {
      text.literal(",\"result\":")
      text.string(result.rawValue)
    }
    text.literal(",\"seq\":")
    text.number(event.seq)
    if let state = event.to {
      text.literal(",\"to\":")
      text.string(state.rawValue)
    }
    text.literal("}\n")
  }
}
