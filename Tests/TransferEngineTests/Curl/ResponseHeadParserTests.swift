import HTTPTypes
import Testing

@testable import TransferEngine

@Suite struct ResponseHeadParserTests {
  private func parse(_ lines: [String], maximumBytes: Int = 4096, maximumInterims: Int = 3) -> [ResponseHeadParser.Step]
  {
    var parser = ResponseHeadParser(HeadLimits(totalBytes: maximumBytes, interims: maximumInterims))
    return lines.map { line in
      Array((line + "\r\n").utf8).withUnsafeBytes { parser.take($0) }
    }
  }

  @Test("a head is finished by the empty line")
  func head() {
    let steps = parse(["HTTP/1.1 200 All Right", "Content-Length:  5 ", "X-A: 1", "X-A: 2", ""])
    guard case .finished(let head)? = steps.last else { return #expect(Bool(false), "not finished") }
    #expect(head.status == 200)
    #expect(head.reason == "All Right")
    #expect(head.headers[.contentLength] == "5")
    #expect(head.headers[values: HTTPField.Name("X-A")!] == ["1", "2"])
    #expect(steps.dropLast().allSatisfy { $0 == .reading })
  }

  @Test("interim responses are skipped, up to a limit")
  func interims() {
    let steps = parse(["HTTP/1.1 100 Continue", "", "HTTP/1.1 103 Early Hints", "Link: x", "", "HTTP/2 204", ""])
    guard case .finished(let head)? = steps.last else { return #expect(Bool(false), "not finished") }
    #expect(head.status == 204)
    #expect(head.headers.isEmpty)
    let many = parse(Array(repeating: ["HTTP/1.1 100 Continue", ""], count: 4).flatMap { $0 })
    #expect(many.last == .tooLarge)
  }

  @Test("a head that exceeds the size limit is rejected")
  func tooLarge() {
    let lines = ["HTTP/1.1 200 OK"] + Array(repeating: "X-Fill: \(String(repeating: "x", count: 90))", count: 100)
    #expect(parse(lines).last == .tooLarge)
  }

  @Test("a field name, a field value and a field count above their limits are rejected")
  func fieldLimits() {
    func last(_ lines: [String]) -> ResponseHeadParser.Step? {
      parse(["HTTP/1.1 200 OK"] + lines, maximumBytes: 1 << 20).last
    }
    #expect(last([String(repeating: "a", count: 256) + ": 1"]) == .reading)
    #expect(last([String(repeating: "a", count: 257) + ": 1"]) == .tooLarge)
    #expect(last(["a: " + String(repeating: "b", count: 64 << 10)]) == .reading)
    #expect(last(["a: " + String(repeating: "b", count: (64 << 10) + 1)]) == .tooLarge)
    #expect(last(Array(repeating: "a:", count: 2000)) == .reading)
    #expect(last(Array(repeating: "a:", count: 2001)) == .tooLarge)
    // The type `HTTPFields` stops the program at this number of fields.
    #expect(last(Array(repeating: "a:", count: 70_000)) == .tooLarge)
  }

  @Test(
    "a status is three digits",
    arguments: [("200", 200), ("999", 999), ("99", 0), ("1000", 0), ("-1", 0), ("+200", 0), ("9223372036854775808", 0)])
  func status(_ text: String, _ expected: Int) {
    guard case .finished(let head)? = parse(["HTTP/1.1 \(text) OK", ""]).last else {
      #expect(expected == 0, "nothing but an interim response")
      return
    }
    #expect(head.status == expected)
  }

  @Test("a trailer that looks like a status line begins no second response")
  func statusLineInTrailers() {
    let steps = parse(["HTTP/1.1 200 OK", "", "HTTP/1.1 206 Partial", "Content-Length: 0", ""])
    #expect(steps.dropFirst(2).allSatisfy { $0 == .reading })
    let challenged = parse(["HTTP/1.1 401 No", "", "HTTP/1.1 200 OK", ""])
    #expect(challenged.last == .finished(ResponseHead(status: 200, reason: "OK")))
  }

  @Test("trailers after the body change nothing")
  func trailers() {
    let steps = parse(["HTTP/1.1 200 OK", "", "X-Trailer: 1", ""])
    #expect(steps[1] == .finished(ResponseHead(status: 200, reason: "OK")))
    #expect(steps[3] == .reading)
  }

  @Test("an ambiguous Content-Length is an error")
  func contentLength() throws {
    for (values, length) in [([" 12 "], 12), (["12, 12"], 12), (["12", "12"], 12), ([], nil)] as [([String], Int64?)] {
      #expect(try Self.head(lengths: values).contentLength() == length)
    }
    for values in [["12 34"], ["12", "13"], ["-1"], ["+1"], [""], ["1e3"], ["9223372036854775808"], ["12,"]] {
      #expect(throws: TransferError.self) { try Self.head(lengths: values).contentLength() }
    }
  }

  @Test("chunked Transfer-Encoding overrides every Content-Length", arguments: ["5", "5, 6", "nonsense"])
  func chunked(length: String) throws {
    let head = ResponseHead(
      status: 200,
      headers: HTTPFields([
        HTTPField(name: .contentLength, value: length), HTTPField(name: .transferEncoding, value: "Chunked"),
      ]))
    #expect(try head.contentLength() == nil)
    #expect(head.isSelfDelimiting)
  }

  @Test("only Content-Length and chunks show where a body ends, with HTTP/2 too", arguments: ["HTTP/1.1", "HTTP/2"])
  func ends(version: String) {
    #expect(!ResponseHead(status: 200, version: version).isSelfDelimiting)
    #expect(ResponseHead(status: 200, version: version, headers: [.contentLength: "3"]).isSelfDelimiting)
  }

  private static func head(lengths: [String]) -> ResponseHead {
    ResponseHead(status: 200, headers: HTTPFields(lengths.map { HTTPField(name: .contentLength, value: $0) }))
  }
}
