import Testing

@testable import XMLReader

/// What a document is read as, and what is refused.
@Suite struct XMLReaderTests {
  /// Reads the document in parts of the given size.
  static func events(
    _ document: some StringProtocol, partSize: Int = .max, limits: XMLReader.Limits = XMLReader.Limits()
  ) throws -> [XMLEvent] {
    var events: [XMLEvent] = []
    let reader = try XMLReader(limits: limits) { events.append($0) }
    var rest = Array(document.utf8)[...]
    while !rest.isEmpty {
      try reader.read(rest.prefix(partSize))
      rest = rest.dropFirst(partSize)
    }
    try reader.finish()
    return events
  }

  static func start(_ local: String, _ attributes: [(String, String)] = []) -> XMLEvent {
    .start(
      XMLName(local: local),
      attributes: attributes.map { XMLAttribute(name: XMLName(local: $0.0), value: $0.1) })
  }

  static func end(_ local: String) -> XMLEvent { .end(XMLName(local: local)) }

  @Test(
    "elements, attributes and texts",
    arguments: [
      ("<a/>", [start("a"), end("a")]),
      (
        "<?xml version='1.0'?><!-- c --><a b='1' c='&lt;2'>t<!-- c -->u<d/>v</a>",
        [start("a", [("b", "1"), ("c", "<2")]), .text("tu"), start("d"), end("d"), .text("v"), end("a")]
      ),
      ("<a>&amp;&#65;<![CDATA[<&]]></a>", [start("a"), .text("&A<&"), end("a")]),
      ("\u{FEFF}<a>\u{E9}</a>", [start("a"), .text("\u{E9}"), end("a")]),
    ])
  func reads(document: String, expected: [XMLEvent]) throws {
    #expect(try Self.events(document) == expected)
    #expect(try Self.events(document, partSize: 1) == expected)
  }

  @Test func `prefixes are resolved`() throws {
    let dav = XMLName(namespace: "DAV:", local: "href")
    let other = XMLName(namespace: "urn:x y", local: "href")
    #expect(try Self.events("<D:href xmlns:D='DAV:'/>") == [.start(dav, attributes: []), .end(dav)])
    #expect(try Self.events("<href xmlns='DAV:'/>") == [.start(dav, attributes: []), .end(dav)])
    #expect(try Self.events("<href xmlns='urn:x\ny'/>") == [.start(other, attributes: []), .end(other)])
  }

  @Test(
    "what is not well-formed is refused with its line",
    arguments: [
      ("", 1), ("<a>", 1), ("<a></b>", 1), ("text", 1), ("<a/>\n<b/>", 2), ("<a b='1' b='2'/>", 1),
      ("<a>&none;</a>", 1),
      ("<a>\u{0}</a>", 1), ("<p:a/>", 1), ("<a>\n\n<", 3),
    ])
  func malformed(document: String, line: UInt) {
    let error = #expect(throws: XMLError.self) { try Self.events(document) }
    guard case .malformed(line, _) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test func `bytes that are not UTF-8 are refused`() throws {
    let reader = try XMLReader { _ in }
    #expect(throws: XMLError.self) {
      try reader.read(Array("<a>".utf8) + [0xff, 0xfe] + Array("</a>".utf8))
      try reader.finish()
    }
  }

  @Test(
    "document types are refused before an entity is read",
    arguments: [
      "<!DOCTYPE a [<!ENTITY b 'bbbb'>]><a>&b;</a>", "<!DOCTYPE a SYSTEM 'file:///etc/passwd'><a/>",
      "<!DOCTYPE html><html/>",
    ])
  func documentTypes(document: String) {
    #expect(throws: XMLError.documentType) { try Self.events(document) }
  }

  @Test func `depth, elements and texts are bounded`() throws {
    var limits = XMLReader.Limits()
    limits.depth = 3
    limits.elements = 5
    limits.textBytes = 8
    for fitting in ["<a><b><c/></b></a>", "<a><b/><b/><b/><b/></a>", "<a>12345678</a>", "<abc d='1234'/>"] {
      #expect(try !Self.events(fitting, limits: limits).isEmpty)
    }
    for large in [
      "<a><b><c><d/></c></b></a>", "<a><b/><b/><b/><b/><b/></a>", "<a>123456789</a>", "<abc d='12345'/>",
      "<a xmlns='12345678'/>",
    ] {
      let error = #expect(throws: XMLError.self) { try Self.events(large, limits: limits) }
      guard case .tooLarge = error else {
        Issue.record("\(large): \(String(describing: error))")
        continue
      }
    }
  }

  @Test func `an error of the caller ends the reading, also for later parts`() throws {
    struct Stop: Error {}
    var events = 0
    let reader = try XMLReader { _ in
      events += 1
      throw Stop()
    }
    #expect(throws: Stop.self) { try reader.read(Array("<a><b/></a>".utf8)) }
    #expect(throws: Stop.self) { try reader.read(Array("<c/>".utf8)) }
    #expect(throws: Stop.self) { try reader.finish() }
    #expect(events == 1)
  }

  @Test func `a long document is read part by part`() throws {
    var count = 0
    let reader = try XMLReader { if case .text = $0 { count += 1 } }
    let entry = Array("<entry>0123456789</entry>".utf8)
    try reader.read(Array("<list>".utf8))
    for _ in 0..<100_000 { try reader.read(entry) }
    try reader.read(Array("</list>".utf8))
    try reader.finish()
    #expect(count == 100_000)
  }
}
