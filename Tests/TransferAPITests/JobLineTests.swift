import FoundationEssentials
import Testing

@testable import TransferAPI

@Suite struct JobLineTests {
  private static func text(_ generator: inout some RandomNumberGenerator) -> String {
    let pieces = [
      "a", "é", "\u{1F600}", "\"", "\\", "/", "\n", "\u{1}", "\u{7f}", "\u{2028}", " ", "", "null", "{}", "\u{0}",
    ]
    return (0..<Int.random(in: 0...6, using: &generator)).map { _ in pieces.randomElement(using: &generator)! }.joined()
  }

  private static func job(_ generator: inout some RandomNumberGenerator) -> Job {
    func maybe<Value>(_ value: @autoclosure () -> Value) -> Value? { Bool.random(using: &generator) ? value() : nil }
    func number() -> Int64 { [0, 1, -1, 17, 1 << 40, .max, .min].randomElement(using: &generator)! }
    func date() -> Date {
      Date(
        timeIntervalSince1970: Double(Int64.random(in: -62_135_596_800_000...253_402_300_799_000, using: &generator))
          / 1000)
    }
    var job = Job(
      id: JobID(.random(in: 1...999_999_999, using: &generator)),
      kind: [.download, .upload].randomElement(using: &generator)!,
      state: JobState.allCases.randomElement(using: &generator)!, source: text(&generator),
      destination: text(&generator),
      bytesDone: number(), bytesTotal: nil, bytesPerSecond: number(), attempt: 3, maxAttempts: 20, createdAt: date())
    if Bool.random(using: &generator) { job.bytesTotal = number() }
    if Bool.random(using: &generator) { job.batch = text(&generator) }
    if Bool.random(using: &generator) { job.key = text(&generator) }
    if Bool.random(using: &generator) { job.checksum = text(&generator) }
    if Bool.random(using: &generator) { job.retryAt = date() }
    if Bool.random(using: &generator) { job.startedAt = date() }
    if Bool.random(using: &generator) { job.finishedAt = date() }
    job.priority = Int.random(in: -1000...1000, using: &generator)
    if Int.random(in: 0..<4, using: &generator) == 0 {
      job.error = JobFailure(code: .http(404), message: text(&generator), httpStatus: maybe(404), transient: true)
    }
    if Int.random(in: 0..<4, using: &generator) == 0 {
      job.action = FileAction(state: .failed, message: text(&generator))
    }
    return job
  }

  @Test("a line is what the coder writes, and is read as the same job")
  func equality() throws {
    var generator = SystemRandomNumberGenerator()
    var lines = JSONText()
    for _ in 0..<2000 {
      let job = Self.job(&generator)
      lines.removeAll()
      try JobLine().write(job, to: &lines)
      let expected = try WireCoding.encoder().encode(job)
      #expect(lines.bytes == Array(expected) + [10], "\(String(decoding: expected, as: UTF8.self))")
      if let read = JobLine().read(lines.bytes.dropLast()) {
        var again = JSONText()
        try JobLine().write(read, to: &again)
        #expect(again.bytes == lines.bytes)
      }
    }
  }

  @Test("a usual line is read without a coder")
  func usual() throws {
    let job = Job(
      id: JobID(7), kind: .download, state: .completed, source: "https://h/é", destination: "/d/a", bytesDone: 5,
      bytesTotal: 5,
      attempt: 1, maxAttempts: 20, batch: "b", createdAt: Date(timeIntervalSince1970: 1_700_000_000.123),
      finishedAt: Date(timeIntervalSince1970: 951_782_400))
    var line = JSONText()
    try JobLine().write(job, to: &line)
    #expect(JobLine().read(line.bytes.dropLast()) == job)
    for end in 0..<(line.bytes.count - 1) { #expect(JobLine().read(line.bytes[..<end]) == nil) }
  }

  @Test("times are written and read as the formatter does, over all days of four centuries")
  func times() throws {
    for day in stride(from: -135_000, to: 150_000, by: 37) {
      let date = Date(timeIntervalSince1970: Double(day) * 86400 + 86399.999)
      var text = JSONText()
      text.date(date)
      #expect(String(decoding: text.bytes, as: UTF8.self) == "\"\(WireCoding.rfc3339(date))\"")
      let read = text.bytes.withUnsafeBytes { bytes in
        var scan = JSONScan(bytes)
        return scan.optionalDate()
      }
      #expect(read == .some(.some(date)))
    }
    for odd in [-1e15, 1e15, 253_402_300_800.0, -62_135_596_801.0] {
      let date = Date(timeIntervalSince1970: odd)
      var text = JSONText()
      text.date(date)
      #expect(String(decoding: text.bytes, as: UTF8.self) == "\"\(WireCoding.rfc3339(date))\"")
    }
  }

  @Test("numbers are written as the coder does", arguments: [0, 9, 10, -1, .max, .min, 123_456_789] as [Int64])
  func numbers(_ number: Int64) {
    var text = JSONText()
    text.number(number)
    #expect(String(decoding: text.bytes, as: UTF8.self) == "\(number)")
  }
}
