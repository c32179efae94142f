import Testing

@testable import transferctl

@Suite struct ProgressLineTests {
  @Test(
    "a bar is exactly as wide as asked",
    arguments: [
      (0, 12, "[          ]"), (1, 12, "[          ]"), (10, 12, "[>         ]"), (50, 12, "[====>     ]"),
      (99, 12, "[========> ]"), (100, 12, "[==========]"), (250, 12, "[==========]"),
      (-3, 12, "[          ]"),
      (nil, 12, "[----------]"), (50, 2, "  "), (50, 0, ""), (50, 3, "[ ]"),
    ] as [(Int?, Int, String)])
  func bar(percent: Int?, width: Int, text: String) {
    #expect(ProgressLine.bar(percent, width: width) == text)
  }

  @Test("no line fills the terminal's last column", arguments: 10...200)
  func widths(columns: Int) {
    var tracker = JobTracker()
    tracker.read(sampleJob(1, done: 10, total: 3000, rate: 5, destination: "/d/ファイル\u{1b}[31m名前-long-long.iso"))
    tracker.read(sampleJob(123_456, done: 1_047_552, rate: 1_047_552, destination: "/d/x"))
    let lines = ProgressLine.lines(of: tracker, columns: columns, rows: 24, Paint(isOn: false))
    #expect(lines.count == 3)
    #expect(lines.allSatisfy { $0.columns < columns })
    #expect(lines.allSatisfy { !$0.contains("\u{1b}") })
  }

  @Test("there are never more lines than the terminal has rows", arguments: [2, 3, 4, 6, 24])
  func rows(rows: Int) {
    var tracker = JobTracker()
    for id in 1...10 { tracker.read(sampleJob(Int64(id), total: 10)) }
    let lines = ProgressLine.lines(of: tracker, columns: 80, rows: rows, Paint(isOn: false))
    #expect(lines.count <= max(3, rows - 1))
  }

  @Test("the summary counts all jobs")
  func summary() {
    var tracker = JobTracker()
    tracker.read(sampleJob(1, .running, done: 512, total: 1024, rate: 128))
    tracker.read(sampleJob(2, .completed, done: 1024, total: 1024))
    tracker.read(sampleJob(3, .failed, done: 9, total: 5000))
    #expect(
      ProgressLine.summary(of: tracker)
        == "1 running, 1 completed, 1 failed; 75% of 2.0 KiB, 128 B/s, 4s left")
    tracker.read(sampleJob(4, .queued))
    #expect(ProgressLine.summary(of: tracker).contains("1 queued"))
    #expect(!ProgressLine.summary(of: tracker).contains("left"))
  }

  @Test("a line on a terminal has a bar and the numbers")
  func line() {
    var tracker = JobTracker()
    tracker.read(sampleJob(12, done: 450, total: 1000, rate: 10, destination: "/d/debian.iso"))
    let lines = ProgressLine.lines(of: tracker, columns: 81, rows: 24, Paint(isOn: false))
    #expect(
      lines[0] == "  12 debian.iso               [=========>             ]  45%       10 B/s    55s")
  }
}
