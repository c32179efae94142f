import FoundationEssentials
import Testing

@testable import TransferAPI

@Suite struct ScheduleOptionsTests {
  private func decode(_ json: String) throws -> NewJob {
    try WireCoding.decoder().decode(NewJob.self, from: Data(json.utf8))
  }

  private func refusal(_ json: String) -> String? {
    do {
      try decode(json).options.check()
      return nil
    } catch { return WireCoding.explain(error) }
  }

  @Test(
    "a window has its first minute and the first one after it",
    arguments: [
      ("22:00-06:00", [1320, 1439, 0, 359], [360, 720, 1319]), ("08:30-17:00", [510, 1019], [509, 1020, 0]),
      ("00:00-24:00", [0, 720, 1439], []), ("18:00-24:00", [1080, 1439], [0, 1079]),
      ("23:59-00:00", [1439], [0, 1438]),
      ("00:00-00:01", [0], [1, 1439]),
    ])
  func contains(_ text: String, _ inside: [Int], _ outside: [Int]) throws {
    let window = try DailyWindow(parsing: text)
    #expect(inside.allSatisfy(window.contains) && !outside.contains(where: window.contains))
    #expect(window.description == text)
  }

  @Test(
    "other windows are refused",
    arguments: [
      "", "22:00", "22:00-", "22-06", "24:00-06:00", "22:00-24:01", "22:60-06:00", "2200-0600", "22:00-06:00-",
      "+2:00-06:00",
      "22:00 - 06:00", "06:00-06:00",
    ])
  func refused(_ text: String) { #expect(throws: WireError.self) { try DailyWindow(parsing: text) } }

  @Test("window and after are written as they are read; an id may be a text")
  func json() throws {
    let job = try decode(#"{"source":"http://h/a","window":"22:00-06:00","after":[12,"13","batch:a b"]}"#)
    #expect(job.options.schedule.window?.description == "22:00-06:00")
    #expect(job.options.schedule.after == [.job(12), .job(13), .batch("a b")])
    let json = String(decoding: try WireCoding.encoder().encode(job), as: UTF8.self)
    #expect(json.contains(#""after":[12,13,"batch:a b"]"#) && json.contains(#""window":"22:00-06:00""#), "\(json)")
    #expect(try decode(json) == job)
    let plain = String(decoding: try WireCoding.encoder().encode(NewJob(source: "http://h/a")), as: UTF8.self)
    #expect(!plain.contains("after") && !plain.contains("window"))
  }

  @Test(
    "what is neither an id nor a batch is refused, and so are too many",
    arguments: [
      (#"[0]"#, "not the id of a job"), (#"[-1]"#, "not the id of a job"), (#"["x"]"#, "neither the id"),
      (#"["batch:"]"#, "1 to 1024 bytes"), (#"["-1"]"#, "neither the id"),
      (#"["batch:a\u0007"]"#, "control characters"),
      ("[" + (1...65).map(String.init).joined(separator: ",") + "]", "more than 64"),
    ])
  func wrong(_ after: String, _ words: String) {
    let refusal = refusal(#"{"source":"http://h/a","after":\#(after)}"#)
    #expect(refusal?.contains(words) == true, "\(refusal ?? "accepted")")
  }

  @Test("a job cannot wait for its own batch")
  func ownBatch() throws {
    var job = try decode(#"{"source":"http://h/a","batch":"b","after":["batch:b"]}"#)
    #expect(throws: WireError.self) { try job.checkDependencies() }
    job.batch = "c"
    try job.checkDependencies()
  }
}
