import FoundationEssentials
import Testing

@testable import transferctl

@Suite struct ServerSentEventParserTests {
  private static let text =
    "\u{feff}: hello\n\nid: 7\nevent: state\ndata: {\"a\":1}\n\n"
    + "event: progress\r\ndata:one\r\ndata: two\r\n\r\n:\r\rid\rdata: ü\rretry: 5\r\runknown\ndata\n\nevent: x\n\n"
    + "data: unfinished\n"
  private static let events = [
    ServerSentEvent(name: "state", data: "{\"a\":1}", id: "7"),
    ServerSentEvent(name: "progress", data: "one\ntwo", id: "7"),
    ServerSentEvent(name: "message", data: "ü", id: ""),
    ServerSentEvent(name: "message", data: "", id: ""),
  ]

  @Test(
    "a stream split at any byte gives the same events",
    arguments: 0...ServerSentEventParserTests.text.utf8.count)
  func split(at index: Int) {
    let bytes = Array(Self.text.utf8)
    var parser = ServerSentEventParser()
    let found = parser.push(Data(bytes[..<index])) + parser.push(Data(bytes[index...]))
    #expect(found == Self.events)
  }

  @Test("a stream that arrives byte by byte gives the same events")
  func bytes() {
    var parser = ServerSentEventParser()
    #expect(Self.text.utf8.flatMap { parser.push(Data([$0])) } == Self.events)
  }

  @Test("events of an unknown kind are skipped, unreadable ones are errors")
  func items() throws {
    #expect(try EventFeed.item(ServerSentEvent(name: "future", data: "?")) == nil)
    #expect(throws: ControlError.self) { try EventFeed.item(ServerSentEvent(name: "state", data: "?")) }
    let event = sampleEvent(3, 1, to: .queued)
    #expect(try EventFeed.item(ServerSentEvent(name: "state", data: json(event))) == .event(event))
  }
}

@Suite struct LineSplitterTests {
  @Test("a stream split at any byte gives the same lines", arguments: 0...13)
  func split(at index: Int) {
    let bytes = Array("one\n\ntwo\nthree".utf8)
    var splitter = LineSplitter()
    var lines = splitter.push(Data(bytes[..<index])) + splitter.push(Data(bytes[index...]))
    if let last = splitter.finish() { lines.append(last) }
    #expect(lines.map { String(decoding: $0, as: UTF8.self) } == ["one", "", "two", "three"])
    #expect(splitter.finish() == nil)
  }
}
