import FoundationEssentials
import Testing
import TransferAPI

@testable import transferctl

@Suite struct JobLinesTests {
  private func lines(_ text: String) -> [(Int, String)] {
    var found: [(Int, String)] = []
    InputLines.each(in: Array(text.utf8)) { found.append(($0, (try? $1.get()) ?? "<bad>")) }
    return found
  }

  private func jobs(_ lines: JobLines) throws -> [NewJob] {
    try lines.spool.data.split(separator: UInt8(ascii: "\n")).map {
      try WireCoding.decoder().decode(NewJob.self, from: Data($0))
    }
  }

  @Test(
    "lines may have CRLF, blank lines, comments and a byte order mark",
    arguments: [
      ("http://a/1\nhttp://a/2\n", [1, 2]), ("http://a/1\r\nhttp://a/2", [1, 2]),
      ("\u{feff}http://a/1", [1]), ("\n# no\n  # no\n\t\n http://a/1 \n", [5]), ("", []), ("\r\n\r\n", []),
      ("\u{feff}\r\n", []),
    ])
  func numbers(text: String, expected: [Int]) {
    let found = lines(text)
    #expect(found.map(\.0) == expected)
    #expect(found.allSatisfy { $0.1.hasPrefix("http://a/") && !$0.1.hasSuffix(" ") })
  }

  @Test("a NUL byte or invalid UTF-8 is a fault of its line only")
  func notText() throws {
    var lines = JobLines()
    let bytes =
      Array("http://a/1\nhttp://a/\0\n".utf8) + Array("http://a/".utf8) + [0xff, 0x0a]
      + Array("http://a/4".utf8)
    try lines.add(file: listFile(bytes), JobDefaults(directory: "/d"))
    #expect(lines.faults.map(\.origin) == [.line(2), .line(3)])
    #expect(lines.faults.map(\.message) == ["has a NUL byte", "is not valid UTF-8"])
    #expect(lines.origins == [.line(1), .line(4)])
  }

  @Test("every bad line is reported, not only the first")
  func allFaults() throws {
    var lines = JobLines()
    let text =
      "gopher://a/1\nhttp://a/2\n{\"url\":\"http://a/3\",\"prio\":1}\n{\"url\":3}\n{\n{\"batch\":\"b\"}\n"
    try lines.add(file: listFile(Array(text.utf8)), JobDefaults(directory: "/d"))
    #expect(lines.faults.map(\.origin) == [1, 3, 4, 5, 6].map { .line($0) })
    #expect(lines.faults.allSatisfy { $0.status == .usage })
    #expect(lines.faults[1].message == "unknown field \"prio\"")
    #expect(lines.faults[4].message == "missing field \"source\"")
  }

  @Test("each job keeps its origin: an argument or a line number")
  func origins() throws {
    var lines = JobLines()
    let defaults = JobDefaults(directory: "/d")
    try lines.add(argument: "http://a/1", defaults)
    try lines.add(file: listFile(Array("# x\nhttp://a/2".utf8)), defaults)
    #expect(lines.origins == [.argument("http://a/1"), .line(2)])
    #expect(try jobs(lines).map(\.source) == ["http://a/1", "http://a/2"])
    #expect(JobLines.Origin.argument("http://u:p@a/?token=x").description == "http://a/?token=***")
  }

  @Test("an exported job is imported unchanged, a paused one stays paused, an ended one is skipped")
  func exported() throws {
    var request = NewJob(source: "http://a/1")
    request.destination = "/data/1"
    request.options.download.createDirectories = true
    request.batch = "b"
    request.priority = 7
    request.options.maxAttempts = 3
    var text = ""
    for state in JobState.allCases { text += try json(ExportedJob(request: request, state: state)) + "\n" }
    text += "{\"url\":\"http://a/new\"}\n"
    var lines = JobLines()
    try lines.add(exported: listFile(Array(text.utf8)), JobDefaults(directory: "/here"))
    #expect(lines.faults.isEmpty)
    #expect(lines.skippedFinal == 3)
    var paused = request
    paused.paused = true
    var new = NewJob(source: "http://a/new")
    new.directory = "/here"
    #expect(try jobs(lines) == [request, request, request, paused, new])
  }

  @Test("a line whose URL lacks its secrets is refused, an ended one is skipped")
  func redacted() throws {
    var request = NewJob(source: "https://h/x?token=***")
    request.destination = "/d/x"
    let plain = #"{"url":"https://h/y?a=1&X-Amz-Signature=***","destination":"/d/y"}"#
    let fine = #"{"url":"https://h/z?a=***","destination":"/d/z"}"#
    let text = try [
      json(ExportedJob(request: request, state: .completed)), json(ExportedJob(request: request, state: .paused)),
      plain, fine,
    ].joined(separator: "\n")
    var lines = JobLines()
    try lines.add(exported: listFile(Array(text.utf8)), JobDefaults(directory: "/here"))
    #expect(lines.skippedFinal == 1 && lines.count == 1)
    #expect(lines.faults.map(\.origin) == [.line(2), .line(3)])
    for fault in lines.faults {
      #expect(fault.message.hasPrefix("cannot import a URL without its secrets"))
      #expect(fault.status == .usage)
    }
  }

  @Test("a hundred thousand lines are read in linear time")
  func many() throws {
    var text = ""
    for number in 1...100_000 { text += "http://a/\(number)\n" }
    text += "bad\n"
    var lines = JobLines()
    try lines.add(file: listFile(Array(text.utf8)), JobDefaults(directory: "/d"))
    #expect(lines.count == 100_000)
    #expect(lines.faults.map(\.origin) == [.line(100_001)])
  }
}
