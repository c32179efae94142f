import HTTPTypes
import Testing

@testable import TransferEngine

@Suite struct RangeStrategiesTests {
  static let date = "Sun, 06 Nov 1994 08:49:37 GMT"
  static let dayLater = "Mon, 07 Nov 1994 08:49:37 GMT"

  private func questions(_ strategies: RangeStrategies) -> [RangeQuestion] {
    var strategies = strategies
    var all = [strategies.question]
    while strategies.descend() { all.append(strategies.question) }
    return all
  }

  @Test("a strong ETag is tried first, then an overlap without a condition, then the whole file")
  func strongETag() {
    let stored = Validators(etag: "\"a\"", lastModified: Self.date, date: Self.dayLater)
    let strategies = RangeStrategies(stored: stored, bytesOnDisk: 100_000, refusals: 0)
    #expect(
      questions(strategies) == [
        RangeQuestion(start: 100_000, bytesOnDisk: 100_000, condition: "\"a\""),
        RangeQuestion(start: 100_000 - 65536, bytesOnDisk: 100_000), .whole,
      ])
  }

  @Test("a date is used only without an ETag")
  func strongDate() {
    let stored = Validators(lastModified: Self.date, date: Self.dayLater)
    #expect(questions(RangeStrategies(stored: stored, bytesOnDisk: 10, refusals: 0)).first?.condition == Self.date)
  }

  @Test(
    "a weak validator is never sent in If-Range",
    arguments: [
      Validators(etag: "W/\"a\"", lastModified: date, date: dayLater),
      Validators(lastModified: date, date: date), Validators(lastModified: date), Validators(),
      Validators(etag: "unquoted"),
    ])
  func weak(_ stored: Validators) {
    let all = questions(RangeStrategies(stored: stored, bytesOnDisk: 10, refusals: 0))
    #expect(all.allSatisfy { $0.condition == nil })
    #expect(all == [RangeQuestion(start: 0, bytesOnDisk: 10), .whole])
  }

  @Test("after an interrupted attempt each Range starts with an overlap that is compared")
  func comparing() {
    let stored = Validators(etag: "\"a\"")
    let strategies = RangeStrategies(stored: stored, bytesOnDisk: 100_000, refusals: 0, isComparing: true)
    let start: Int64 = 100_000 - 65536
    #expect(
      questions(strategies) == [
        RangeQuestion(start: start, bytesOnDisk: 100_000, condition: "\"a\""),
        RangeQuestion(start: start, bytesOnDisk: 100_000), .whole,
      ])
    let short = RangeStrategies(stored: stored, bytesOnDisk: 10, refusals: 0, isComparing: true)
    #expect(questions(short).first == RangeQuestion(start: 0, bytesOnDisk: 10, condition: "\"a\""))
  }

  @Test("after two refused resumes the whole file is requested")
  func refusals() {
    let stored = Validators(etag: "\"a\"")
    #expect(questions(RangeStrategies(stored: stored, bytesOnDisk: 10, refusals: 2)) == [.whole])
  }

  @Test("without stored bytes or validators the whole file is requested")
  func nothing() {
    #expect(questions(RangeStrategies(stored: nil, bytesOnDisk: 10, refusals: 0)) == [.whole])
    #expect(questions(RangeStrategies(stored: Validators(etag: "\"a\""), bytesOnDisk: 0, refusals: 0)) == [.whole])
  }

  @Test("If-Range is never sent without Range")
  func fields() {
    var headers: HTTPFields = [.range: "bytes=5-", .ifRange: "\"x\""]
    RangeQuestion.whole.apply(to: &headers)
    #expect(headers.isEmpty)
    RangeQuestion(start: 7, bytesOnDisk: 7, condition: "\"a\"").apply(to: &headers)
    #expect(headers[.range] == "bytes=7-")
    #expect(headers[.ifRange] == "\"a\"")
  }

  @Test("another ETag, or another date without an ETag, means another version")
  func contradiction() {
    let stored = Validators(etag: "\"a\"", lastModified: Self.date)
    #expect(stored.contradict(Validators(etag: "\"b\"", lastModified: Self.date)))
    #expect(!stored.contradict(Validators(etag: "\"a\"", lastModified: Self.dayLater)))
    #expect(stored.contradict(Validators(lastModified: Self.dayLater)))
    #expect(!stored.contradict(Validators()))
    #expect(Validators(etag: "W/\"a\"").contradict(Validators(etag: "W/\"b\"")))
  }
}
