import HTTPTypes
import Testing

@testable import TransferEngine

@Suite struct SourceChoiceTests {
  @Test("a source with few connections goes first; then a fast one, an unknown one, a slow one; then the first")
  func best() {
    func choose(_ candidates: [(Int, Double?)]) -> Int? {
      SourceChoice.best(
        of: candidates.enumerated().map { .init(id: $0.offset, connections: $0.element.0, rate: $0.element.1) })
    }
    #expect(choose([]) == nil)
    #expect(choose([(0, nil), (0, nil)]) == 0)
    #expect(choose([(1, 100), (0, nil)]) == 1)
    #expect(choose([(0, 10), (0, nil), (0, 100)]) == 2)
    #expect(choose([(0, 10), (0, nil), (1, 100)]) == 1)
    #expect(choose([(0, 60), (0, 50), (0, 55)]) == 0)
    #expect(choose([(0, 10), (1, 100)]) == 0)
  }

  @Test(
    "a source may help only if its length agrees, and its strong ETag or a digest does",
    arguments: [
      (206, ["Content-Range": "bytes 0-9/100", "ETag": "\"a\""], false, "compare"),
      (206, ["Content-Range": "bytes 0-9/100", "ETag": "\"b\""], false, "nothing proves"),
      (206, ["Content-Range": "bytes 0-9/100"], false, "nothing proves"),
      (206, ["Content-Range": "bytes 0-9/100", "ETag": "W/\"a\""], false, "nothing proves"),
      (206, ["Content-Range": "bytes 0-9/100", "ETag": "\"b\""], true, "compare"),
      (206, ["Content-Range": "bytes 0-9/101", "ETag": "\"a\""], true, "101 bytes, not 100"),
      (206, ["Content-Range": "bytes 0-9/*"], true, "how long"),
      (206, ["Content-Range": "bytes 1-10/100"], true, "another part"),
      (206, ["Content-Range": "bytes 0-9/100", "Content-Encoding": "gzip"], true, "another part"),
      (206, [:], true, "without saying which"),
      (206, ["Content-Range": "bytes 0-9223372036854775807/9223372036854775807"], true, "drop"),
      (200, ["Content-Length": "100"], true, "no ranges"), (200, ["Content-Length": "7"], true, "7 bytes, not 100"),
      (404, [:], true, "404"), (416, [:], true, "416"), (503, [:], true, "wait"), (429, [:], true, "wait"),
    ] as [(Int, [String: String], Bool, String)])
  func probe(status: Int, fields: [String: String], hasDigest: Bool, expected: String) throws {
    var headers = HTTPFields()
    for (name, value) in fields { headers[try #require(HTTPField.Name(name))] = value }
    let decision = ProbeDecision(
      head: ResponseHead(status: status, headers: headers), range: 0..<10, total: 100,
      validators: Validators(etag: "\"a\""), hasDigest: hasDigest, expected: [])
    #expect("\(decision)".contains(expected), "\(decision)")
  }
}
