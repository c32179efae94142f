import Testing
import TransferAPI

@testable import transferctl

@Suite struct TableTests {
  @Test("columns are aligned, even with wide names and control characters")
  func aligned() {
    var table = Table([.init(title: "N", alignment: .right), .init(title: "NAME"), .init(title: "END")])
    let lines = table.lines([["1", "ファイル", "x"], ["200", "a\u{1b}[m\nb", "y"]])
    #expect(lines == ["  N  NAME        END", "  1  ファイル    x", "200  a\\x1b[m\\nb  y"])
  }

  @Test("later pages have no second header and no narrower columns")
  func pages() {
    var table = Table([.init(title: "A"), .init(title: "B")])
    #expect(table.lines([["wide", "1"]]) == ["A     B", "wide  1"])
    #expect(table.lines([["x", "2"]]) == ["x     2"])
  }

  @Test("the last cell is shortened if lines have a limit")
  func limit() {
    var table = Table([.init(title: "A"), .init(title: "B")], maximum: 12)
    let lines = table.lines([["1", String(repeating: "x", count: 40)]])
    #expect(lines.allSatisfy { $0.columns <= 12 })
  }

  @Test("show has times with units")
  func times() {
    var options = JobOptions()
    (options.stallTimeout, options.schedule.retryFor) = (90, 7200)
    let lines = DetailText.lines(JobDetail(job: sampleJob(1, .queued), options: options, attempts: []))
    #expect(lines.contains("stall timeout:  1m30s"), "\(lines)")
    // Regression: it was the name of an internal type.
    #expect(lines.contains("retry for:      2h00m"), "\(lines)")
  }

  @Test("status shows known values, and dashes for unknown ones")
  func jobs() {
    var table = JobTable(isWide: false, Paint(isOn: false))
    let lines = table.lines([
      sampleJob(1, .running, done: 512, total: 1024, rate: 256, destination: "/data/a.iso"),
      sampleJob(22, .queued, destination: "/data/"),
    ])
    #expect(
      lines == [
        "ID  STATE    DONE     SIZE     RATE  ETA  NAME",
        " 1  running   50%  1.0 KiB  256 B/s   2s  a.iso",
        "22  queued    0 B        -        -    -  file",
      ])
  }

  @Test(
    "a job is named by its file, or by the last segment of its URL",
    arguments: [
      ("/data/a.iso", "https://h/b", "a.iso"), ("/data/", "https://h/b.iso?x=/y", "b.iso"),
      ("/data/", "https://h/", "h"),
    ])
  func names(destination: String, source: String, name: String) {
    var job = sampleJob(1, destination: destination)
    job.source = source
    #expect(JobTable.name(of: job) == name)
  }

  @Test("names and values are aligned")
  func details() {
    #expect(DetailText.aligned([("a", "1"), ("long", "x\ny")]) == ["a:     1", "long:  x\\ny"])
  }

  @Test("an event is one line")
  func event() {
    var event = sampleEvent(12, 3, to: .running)
    event.from = .queued
    event.reason = "a slot\nis free"
    #expect(
      EventText.line(event) == "2023-11-14T22:13:20.000Z  12  job 3  queued -> running  a slot\\nis free")
  }
}
