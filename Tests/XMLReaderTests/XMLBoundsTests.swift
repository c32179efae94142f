import Testing

@testable import XMLReader

/// Documents that would take memory or time without bounds.
@Suite struct XMLBoundsTests {
  /// Expects that the reading ends with `tooLarge`.
  private static func expectTooLarge(
    _ hint: String, _ location: SourceLocation = #_sourceLocation, _ body: () throws -> Void
  ) {
    let error = #expect(throws: XMLError.self, "\(hint)", sourceLocation: location) { try body() }
    guard case .tooLarge = error else {
      Issue.record("\(hint): \(String(describing: error))", sourceLocation: location)
      return
    }
  }

  @Test(
    "what never ends is refused before much of it is kept",
    arguments: [
      "<a b='", "<a b", "<a", "<a b='1' ", "<!-- ", "<a><!-- ", "<a/><!-- ", "<?b ", "<a><?b ", "<a><b></b", "<a>&b",
      "<a><![CDATA[", "<a>", "<?xml version='1.0'?><!-- ",
    ],
    [1000, 16 << 10, 1 << 20])
  func endless(beginning: String, partSize: Int) throws {
    var limits = XMLReader.Limits()
    limits.textBytes = 10_000
    let reader = try XMLReader(limits: limits) { _ in }
    let part = [UInt8](repeating: UInt8(ascii: "c"), count: partSize)
    var given = 0
    Self.expectTooLarge(beginning) {
      try reader.read(Array(beginning.utf8))
      // 40,000 bytes may be pending, and a quarter of them and a part be held back.
      while given < 80_000 + partSize {
        given += partSize
        try reader.read(part)
      }
    }
    Self.expectTooLarge("again") { try reader.read(part) }
  }

  @Test("long tags and comments that end are read, in parts of each size", arguments: [1, 100, 16 << 10, Int.max])
  func long(partSize: Int) throws {
    let value = String(repeating: "&#x10FFFF;", count: 3000)
    let comment = "<!--" + String(repeating: "c", count: 30_000) + "-->"
    var limits = XMLReader.Limits()
    limits.textBytes = 3000 * 4 + 2
    let document = "<a b='\(value)'>" + comment + "<d/>" + comment + "</a>"
    #expect(
      try XMLReaderTests.events(document, partSize: partSize, limits: limits) == [
        XMLReaderTests.start("a", [("b", String(repeating: "\u{10FFFF}", count: 3000))]), XMLReaderTests.start("d"),
        XMLReaderTests.end("d"), XMLReaderTests.end("a"),
      ])
  }

  // If the pending bytes were read again with each byte, this would take many minutes.
  @Test("the time does not grow with the length of the parts", .timeLimit(.minutes(1)))
  func bytewise() throws {
    let reader = try XMLReader { _ in }
    try reader.read(Array("<a>".utf8))
    for _ in 0..<4 {
      try reader.read(Array("<!--".utf8))
      for _ in 0..<250_000 { try reader.read(CollectionOfOne(UInt8(ascii: "c"))) }
      try reader.read(Array("-->".utf8))
    }
    try reader.read(Array("</a>".utf8))
    try reader.finish()
  }

  /// Where a different name stands in each element.
  enum Place: String, CaseIterable { case element, attribute, prefix }

  private static func element(_ place: Place, _ name: String) -> String {
    switch place {
    case .element: "<\(name)/>"
    case .attribute: "<a \(name)='1'/>"
    case .prefix: "<a xmlns:\(name)='u'/>"
    }
  }

  @Test("different names without end are refused, the same ones are not", arguments: Place.allCases)
  func names(place: Place) throws {
    var limits = XMLReader.Limits()
    limits.memoryBytes = 1 << 20
    let count = 100_000
    let same = try XMLReader(limits: limits) { _ in }
    try same.read(Array("<a>".utf8))
    for number in 0..<count { try same.read(Array(Self.element(place, "n\(number % 100)").utf8)) }
    try same.read(Array("</a>".utf8))
    try same.finish()
    let different = try XMLReader(limits: limits) { _ in }
    Self.expectTooLarge(place.rawValue) {
      try different.read(Array("<a>".utf8))
      for number in 0..<count { try different.read(Array(Self.element(place, "n\(number)").utf8)) }
    }
  }

  @Test("a reader inside another one's report has its own memory")
  func nested() throws {
    var limits = XMLReader.Limits()
    limits.memoryBytes = 1 << 20
    var inner = 0
    let reader = try XMLReader(limits: limits) { event in
      guard case .start = event else { return }
      inner += try XMLReaderTests.events("<b>t</b>", limits: limits).count
    }
    try reader.read(Array("<a><b/><c/></a>".utf8))
    try reader.finish()
    #expect(inner == 9)
  }
}
