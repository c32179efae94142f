import FoundationEssentials

/// Parses `text/event-stream` from chunks of any size. WHATWG HTML §9.2.6
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
    default: break  // Comments (an empty field name), `retry` and unknown fields.
    }
    return nil
  }

  /// Ends the event at an empty line; an event without data is dropped.
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
