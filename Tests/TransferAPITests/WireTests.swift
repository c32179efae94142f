import FoundationEssentials
import Testing
import TransferAPI

@Suite struct WireTests {
  private func decode(_ json: String) throws -> NewJob {
    try WireCoding.decoder().decode(NewJob.self, from: Data(json.utf8))
  }

  @Test("a time is unchanged to the millisecond after encoding and decoding")
  func times() throws {
    // Regression: the formatter truncated binary fractions, so .361 became .360.
    for millisecond in 0..<1000 {
      let text = "2026-11-21T06:08:00.\(String(1000 + millisecond).dropFirst())Z"
      #expect(WireCoding.rfc3339(try #require(WireCoding.date(rfc3339: text))) == text)
    }
  }

  @Test("a job in JSON has every documented field, with null for missing values")
  func job() throws {
    let job = Job(
      id: 7, kind: .download, state: .queued, source: "https://h/x", destination: "/d/x", maxAttempts: 20,
      createdAt: Date(timeIntervalSince1970: 0.5))
    let json = String(decoding: try WireCoding.encoder().encode(job), as: UTF8.self)
    for field in [
      "id", "kind", "state", "source", "destination", "bytesDone", "bytesTotal", "bytesPerSecond", "attempt",
      "maxAttempts", "retryAt", "priority", "batch", "key", "checksum", "error", "createdAt", "startedAt", "finishedAt",
    ] {
      #expect(json.contains("\"\(field)\":"))
    }
    #expect(json.contains("\"createdAt\":\"1970-01-01T00:00:00.500Z\""))
    #expect(json.contains("\"bytesTotal\":null"))
    #expect(try WireCoding.decoder().decode(Job.self, from: Data(json.utf8)) == job)
  }

  @Test(
    "an object with a field twice is refused, at any depth and with any escapes",
    arguments: [
      (#"{"source":"https://h/x","source":"https://h/y"}"#, "source"),
      (#"{"source":"https://h/x","headers":{"A":"1","B":"2","A":"3"}}"#, "A"),
      (#"{"source":"https://h/x","priority":1,"\u0070riority":2}"#, "priority"),
    ])
  func repeated(json: String, name: String) {
    #expect(throws: WireError("field \"\(name)\" is given twice")) {
      try WireCoding.decode(NewJob.self, from: Data(json.utf8))
    }
  }

  @Test("values, other objects and texts with quotes are no repeated fields")
  func notRepeated() throws {
    let texts = [
      #"{"source":"source","key":"a\",\"source\":\"b"}"#,
      #"{ "source" : "https://h/x" , "mirrors" : [ "https://h/source" , "https://h/b" ] }"#,
      #"{"source":"https://h/x","headers":{"source":"a\\","key":"b"},"key":"k"}"#,
    ]
    for text in texts { _ = try WireCoding.decode(NewJob.self, from: Data(text.utf8)) }
    #expect(try WireCoding.decode([[String: Int]].self, from: Data(#"[{"a":1},{"a":2}]"#.utf8)).count == 2)
  }

  // Not the texts themselves: the test's own output would compare them.
  @Test(
    "a text with more than 127 combining marks in a row is refused, also in escapes: Swift would sort them for minutes",
    arguments: [
      ("key", "\u{301}\u{323}", 64), ("key", #"\u0301\u0323"#, 64), ("key", #"\ud834\udd65"#, 128),
      ("key", "\u{F73}", 128), ("kind", "\u{301}\u{323}", 500_000), ("name", "\u{301}\u{323}", 500_000),
    ])
  func manyMarks(place: String, marks: String, count: Int) {
    let text = "\"a" + String(repeating: marks, count: count) + "\""
    let field = place == "name" ? #""headers":{\#(text):"1"}"# : #""\#(place)":\#(text)"#
    #expect(throws: WireError("a text has more than 127 combining marks in a row")) {
      try WireCoding.decode(NewJob.self, from: Data(#"{"source":"https://h/x",\#(field)}"#.utf8))
    }
  }

  @Test(
    "texts with fewer marks, and with other escapes, are taken",
    arguments: [
      ("\u{301}\u{323}", 63), ("e\u{301}\u{323}", 200), (#"\ud83d\ude00"#, 200), (#"\\u0301"#, 200), (#"\t"#, 200),
      ("漢", 200),
    ])
  func fewMarks(text: String, count: Int) throws {
    let json = Data(#"["a\#(String(repeating: text, count: count))"]"#.utf8)
    #expect(try WireCoding.decode([String].self, from: json) == JSONDecoder().decode([String].self, from: json))
  }

  @Test("JSON is UTF-8")
  func encoding() {
    let json = Data(#"{"source":"https://h/x"}"#.utf8.flatMap { [$0, 0] })
    #expect(throws: WireError("the JSON has a NUL byte; it must be UTF-8")) {
      try WireCoding.decode(NewJob.self, from: json)
    }
  }

  @Test("url is another name for source, and quantities may have units")
  func newJob() throws {
    let job = try decode(#"{"url":"https://h/x","limitRate":"1M","stallTimeout":"5m","connectTimeout":2.5}"#)
    #expect(job.source == "https://h/x")
    #expect(job.options.limitRate == 1 << 20)
    #expect(job.options.stallTimeout == 300)
    #expect(job.options.connectTimeout == 2.5)
  }

  @Test(
    "a decoding error is explained in one line",
    arguments: [
      (#"{"source":"x","chekcsum":"y"}"#, "unknown field \"chekcsum\""), (#"{}"#, "missing field \"source\""),
      (#"{"source":"x","url":"y"}"#, "give either source or url, not both"),
      (#"{"source":5}"#, "field \"source\" has the wrong type"), (#"[1]"#, "not a JSON object"),
      (#"{"source":"x","mirrors":[5]}"#, "field \"mirrors.0\" has the wrong type"),
      (#"{"source":"#, "not valid JSON, or a number is not whole or too large"),
      (#"{"source":"x","priority":1.5}"#, "not valid JSON, or a number is not whole or too large"),
      (#"{"source":"x","limitRate":0}"#, "limitRate: a rate is a number of bytes a second, 1 or more, with K, M or G"),
    ])
  func explanations(_ json: String, _ expected: String) {
    do {
      _ = try decode(json)
      Issue.record("accepted")
    } catch {
      #expect(WireCoding.explain(error) == expected)
    }
  }

  @Test("a selector has exactly one criterion")
  func selector() throws {
    let decoder = WireCoding.decoder()
    #expect(try decoder.decode(JobSelector.self, from: Data(#"{"all":true}"#.utf8)) == .all)
    #expect(try decoder.decode(JobSelector.self, from: Data(#"{"ids":[1,2]}"#.utf8)) == .ids([1, 2]))
    for bad in ["{}", #"{"all":false}"#, #"{"all":true,"batch":"b"}"#] {
      #expect(throws: (any Error).self) { try decoder.decode(JobSelector.self, from: Data(bad.utf8)) }
    }
  }
}

extension JobID: ExpressibleByIntegerLiteral {
  public init(integerLiteral value: Int64) { self.init(value) }
}
