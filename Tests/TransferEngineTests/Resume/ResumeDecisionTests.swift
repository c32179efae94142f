import HTTPTypes
import Testing

@testable import TransferEngine

@Suite struct ResumeDecisionTests {
  static let stored = Validators(
    etag: "\"v1\"", lastModified: "Sun, 06 Nov 1994 08:49:37 GMT", date: "Mon, 07 Nov 1994 08:49:37 GMT")
  static let conditional = RangeQuestion(start: 1000, bytesOnDisk: 1000, condition: "\"v1\"")
  static let probing = RangeQuestion(start: 900, bytesOnDisk: 1000)

  /// The engine's decision without its reason.
  enum Outcome: Equatable {
    case append(overlap: Int64, total: Int64?)
    case startOver(total: Int64?)
    case alreadyComplete, nextStrategy, unchanged
    case fail(transient: Bool)
  }

  struct Row: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var status: Int
    var fields: [(String, String)]
    var question: RangeQuestion
    var outcome: Outcome
    var stored: Validators? = ResumeDecisionTests.stored
    var total: Int64? = 5000
  }

  static let rows: [Row] = [
    Row(
      testDescription: "206 at N with the same validator", status: 206,
      fields: [("Content-Range", "bytes 1000-4999/5000"), ("ETag", "\"v1\"")], question: conditional,
      outcome: .append(overlap: 0, total: 5000)),
    Row(
      testDescription: "206 at N without a validator", status: 206, fields: [("Content-Range", "bytes 1000-4999/5000")],
      question: conditional, outcome: .nextStrategy),
    Row(
      testDescription: "206 with a date instead of the ETag", status: 206,
      fields: [
        ("Content-Range", "bytes 1000-4999/5000"), ("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT"),
      ], question: conditional, outcome: .nextStrategy),
    Row(
      testDescription: "206 at N without a validator, to a date", status: 206,
      fields: [("Content-Range", "bytes 1000-4999/5000")],
      question: RangeQuestion(start: 1000, bytesOnDisk: 1000, condition: "Sun, 06 Nov 1994 08:49:37 GMT"),
      outcome: .append(overlap: 0, total: 5000),
      stored: Validators(lastModified: "Sun, 06 Nov 1994 08:49:37 GMT", date: "Mon, 07 Nov 1994 08:49:37 GMT")),
    Row(
      testDescription: "206 of a part of the rest", status: 206,
      fields: [("Content-Range", "bytes 1000-1999/5000"), ("ETag", "\"v1\"")], question: conditional,
      outcome: .append(overlap: 0, total: 5000)),
    Row(
      testDescription: "206 with an unknown total", status: 206,
      fields: [("Content-Range", "bytes 1000-4999/*"), ("ETag", "\"v1\"")], question: conditional,
      outcome: .append(overlap: 0, total: 5000)),
    Row(
      testDescription: "206 to a probe", status: 206, fields: [("Content-Range", "bytes 900-4999/5000")],
      question: probing, outcome: .append(overlap: 100, total: 5000)),
    Row(
      testDescription: "206 to a probe, shorter than the overlap", status: 206,
      fields: [("Content-Range", "bytes 900-950/5000")], question: probing, outcome: .nextStrategy),
    Row(
      testDescription: "206 to a probe, the overlap and no more", status: 206,
      fields: [("Content-Range", "bytes 900-999/5000")], question: probing, outcome: .nextStrategy),
    Row(
      testDescription: "206 with more bytes than its part", status: 206,
      fields: [("Content-Range", "bytes 1000-1999/5000"), ("Content-Length", "2000")], question: conditional,
      outcome: .nextStrategy),
    Row(
      testDescription: "206 with as many bytes as its part", status: 206,
      fields: [("Content-Range", "bytes 1000-1999/5000"), ("Content-Length", "1000"), ("ETag", "\"v1\"")],
      question: conditional, outcome: .append(overlap: 0, total: 5000)),
    Row(
      testDescription: "206 that ends at the largest number", status: 206,
      fields: [("Content-Range", "bytes 1000-9223372036854775807/*")], question: conditional, outcome: .nextStrategy,
      total: nil),
    Row(
      testDescription: "206 to a probe that ends at the largest number", status: 206,
      fields: [("Content-Range", "bytes 900-9223372036854775807/*")], question: probing, outcome: .nextStrategy,
      total: nil),
    Row(
      testDescription: "206 that ends just before the largest number", status: 206,
      fields: [("Content-Range", "bytes 1000-9223372036854775806/*"), ("ETag", "\"v1\"")], question: conditional,
      outcome: .append(overlap: 0, total: nil), total: nil),
    Row(
      testDescription: "206 with a number that fits no 63 bits", status: 206,
      fields: [("Content-Range", "bytes 1000-9223372036854775808/*")], question: conditional, outcome: .nextStrategy,
      total: nil),
    Row(
      testDescription: "206 with a Content-Range of 96 KB", status: 206,
      fields: [("Content-Range", "bytes 1000-4999/" + String(repeating: "0", count: 96 << 10) + "5000")],
      question: conditional, outcome: .nextStrategy),
    Row(
      testDescription: "206 that starts before N", status: 206, fields: [("Content-Range", "bytes 500-4999/5000")],
      question: conditional, outcome: .nextStrategy),
    Row(
      testDescription: "206 that starts after N", status: 206, fields: [("Content-Range", "bytes 1001-4999/5000")],
      question: conditional, outcome: .nextStrategy),
    Row(
      testDescription: "206 with another total", status: 206, fields: [("Content-Range", "bytes 1000-5999/6000")],
      question: conditional, outcome: .nextStrategy),
    Row(
      testDescription: "206 with another ETag", status: 206,
      fields: [("Content-Range", "bytes 1000-4999/5000"), ("ETag", "\"v2\"")], question: conditional,
      outcome: .nextStrategy),
    Row(
      testDescription: "206 without Content-Range", status: 206, fields: [], question: conditional,
      outcome: .nextStrategy),
    Row(
      testDescription: "206 as multipart/byteranges", status: 206,
      fields: [("Content-Type", "multipart/byteranges; boundary=x")], question: conditional, outcome: .nextStrategy),
    Row(
      testDescription: "206 in another unit", status: 206, fields: [("Content-Range", "items 1000-4999/5000")],
      question: conditional, outcome: .nextStrategy),
    Row(
      testDescription: "206 of an encoded form", status: 206,
      fields: [("Content-Range", "bytes 1000-4999/5000"), ("Content-Encoding", "gzip")], question: conditional,
      outcome: .nextStrategy),
    Row(
      testDescription: "206 beyond the end", status: 206, fields: [("Content-Range", "bytes 1000-5000/*")],
      question: conditional, outcome: .nextStrategy),
    Row(
      testDescription: "206 that was not requested", status: 206, fields: [("Content-Range", "bytes 0-4999/5000")],
      question: .whole, outcome: .fail(transient: true)),
    Row(
      testDescription: "200 with another ETag", status: 200, fields: [("ETag", "\"v2\""), ("Content-Length", "7000")],
      question: conditional, outcome: .startOver(total: 7000)),
    Row(
      testDescription: "200 with the same strong ETag: If-Range is ignored", status: 200,
      fields: [("ETag", "\"v1\""), ("Content-Length", "5000")], question: conditional, outcome: .nextStrategy),
    Row(
      testDescription: "200 to a plain Range: ranges are ignored", status: 200,
      fields: [("ETag", "\"v1\""), ("Content-Length", "5000")], question: probing, outcome: .startOver(total: 5000)),
    Row(
      testDescription: "200 without a length", status: 200, fields: [("Transfer-Encoding", "chunked")],
      question: .whole, outcome: .startOver(total: nil)),
    Row(
      testDescription: "200 encoded: its length is not the file's", status: 200,
      fields: [("Content-Encoding", "gzip"), ("Content-Length", "70")], question: .whole,
      outcome: .startOver(total: nil)),
    Row(
      testDescription: "416 with the length on disk", status: 416, fields: [("Content-Range", "bytes */1000")],
      question: conditional, outcome: .alreadyComplete, total: nil),
    Row(
      testDescription: "416 with another length", status: 416, fields: [("Content-Range", "bytes */800")],
      question: conditional, outcome: .nextStrategy, total: nil),
    Row(
      testDescription: "416 with the length on disk, but another was announced", status: 416,
      fields: [("Content-Range", "bytes */1000")], question: conditional, outcome: .nextStrategy),
    Row(
      testDescription: "416 without a length", status: 416, fields: [], question: conditional, outcome: .nextStrategy),
    Row(
      testDescription: "416 of another version", status: 416,
      fields: [("Content-Range", "bytes */1000"), ("ETag", "\"v2\"")], question: conditional, outcome: .nextStrategy,
      total: nil),
    Row(testDescription: "412", status: 412, fields: [], question: conditional, outcome: .nextStrategy),
    Row(testDescription: "204", status: 204, fields: [], question: .whole, outcome: .startOver(total: 0)),
    Row(
      testDescription: "202", status: 202, fields: [("Content-Length", "5")], question: .whole,
      outcome: .startOver(total: 5)),
    Row(
      testDescription: "202 instead of the rest", status: 202, fields: [("Content-Length", "5")], question: conditional,
      outcome: .fail(transient: false)),
    Row(
      testDescription: "204 instead of the rest", status: 204, fields: [], question: conditional,
      outcome: .fail(transient: false)),
    Row(testDescription: "304", status: 304, fields: [], question: .whole, outcome: .fail(transient: false)),
    Row(testDescription: "404", status: 404, fields: [], question: .whole, outcome: .fail(transient: false)),
    Row(testDescription: "429", status: 429, fields: [], question: .whole, outcome: .fail(transient: true)),
    Row(testDescription: "503", status: 503, fields: [], question: conditional, outcome: .fail(transient: true)),
    Row(
      testDescription: "two lengths", status: 200, fields: [("Content-Length", "5"), ("Content-Length", "6")],
      question: .whole, outcome: .fail(transient: false)),
    Row(
      testDescription: "two lengths in one field", status: 200, fields: [("Content-Length", "5, 6")],
      question: .whole, outcome: .fail(transient: false)),
    Row(
      testDescription: "the same length twice", status: 200,
      fields: [("Content-Length", "5"), ("Content-Length", "5")],
      question: .whole, outcome: .startOver(total: 5)),
    Row(
      testDescription: "a negative length", status: 200, fields: [("Content-Length", "-5")], question: .whole,
      outcome: .fail(transient: false)),
    Row(
      testDescription: "a length beyond 63 bits", status: 200, fields: [("Content-Length", "9223372036854775808")],
      question: .whole, outcome: .fail(transient: false)),
  ]

  @Test("each response leads to one decision about the bytes on disk", arguments: rows)
  func decision(_ row: Row) throws {
    var headers = HTTPFields()
    for (name, value) in row.fields { headers.append(HTTPField(name: try #require(.init(name)), value: value)) }
    let decision = ResumeDecision(
      head: ResponseHead(status: row.status, headers: headers), question: row.question, stored: row.stored,
      storedTotal: row.total, retryAfter: nil)
    let outcome: Outcome =
      switch decision {
      case .append(let overlap, let total): .append(overlap: overlap, total: total)
      case .startOver(let total): .startOver(total: total)
      case .alreadyComplete: .alreadyComplete
      case .unchanged: .unchanged
      case .nextStrategy: .nextStrategy
      case .fail(let error): .fail(transient: error.isTransient)
      }
    #expect(outcome == row.outcome)
  }

  @Test(
    "Content-Range is parsed strictly",
    arguments: [
      ("bytes 0-0/1", ContentRange.part(first: 0, last: 0, total: 1)),
      ("Bytes 5-9/*", .part(first: 5, last: 9, total: nil)), ("bytes */7", .unsatisfied(total: 7)),
      ("bytes 9-5/10", nil), ("bytes 5-10/10", nil), ("bytes -5/10", nil), ("bytes 5-/10", nil),
      ("bytes */*", nil), ("5-9/10", nil), ("bytes 5-9", nil), ("bytes 0x5-9/10", nil),
      ("bytes 0-99999999999999999999/*", nil),
    ] as [(String, ContentRange?)])
  func contentRange(_ text: String, _ expected: ContentRange?) {
    #expect(ContentRange(text) == expected)
  }
}
