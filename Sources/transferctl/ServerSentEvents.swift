import FoundationEssentials

/// One event of a `text/event-stream`.
struct ServerSentEvent: Equatable, Sendable {
  var name = "message"
  var data = ""
  /// Of this event or the last one that had any.
  var id: String?
}

/// Reads `text/event-stream` in chunks cut anywhere. WHATWG HTML §9.2.6
struct ServerSentEventParser {
  private var line: [UInt8] = []
  private var endedWithCR = false
  private var isFirstLine = true
  private var name = ""
  private var data: [String] = []
  private var id: String?

  mutating func push(_ chunk: Data) -> [ServerSentEvent] {
    var events: [ServerSentEvent] = []
    for byte in chunk {
      let followsCR = endedWithCR
      endedWithCR = byte == UInt8(ascii: "\r")
      switch byte {
      case UInt8(ascii: "\n") where followsCR: continue
      case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
        if let event = endLine() { events.append(event) }
      default: line.append(byte)
      }
    }
    return events
  }

  private mutating func endLine() -> ServerSentEvent? {
    if isFirstLine, line.starts(with: [0xef, 0xbb, 0xbf]) { line.removeFirst(3) }
    isFirstLine = false
    defer { line.removeAll(keepingCapacity: true) }
    guard !line.isEmpty else { return dispatch() }
    let field: ArraySlice<UInt8>
    var value: ArraySlice<UInt8>
    if let colon = line.firstIndex(of: UInt8(ascii: ":")) {
      field = line[..<colon]
      value = line[(colon + 1)...]
      if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
    } else {
      field = line[...]
      value = []
    }
    switch String(decoding: field, as: UTF8.self) {
    case "event": name = String(decoding: value, as: UTF8.self)
    case "data": data.append(String(decoding: value, as: UTF8.self))
    case "id" where !value.contains(0): id = String(decoding: value, as: UTF8.self)
    default: break  // Comments (an empty field name), `retry`, and what is not known.
    }
    return nil
  }

  /// An empty line ends an event; without data there is none.
  private mutating func dispatch() -> ServerSentEvent? {
    defer {
      name = ""
      data = []
    }
    guard !data.isEmpty else { return nil }
    return ServerSentEvent(
      name: name.isEmpty ? "message" : name, data: data.joined(separator: "\n"), id: id)
  }
}
