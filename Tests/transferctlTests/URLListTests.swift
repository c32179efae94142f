import FoundationEssentials
import Testing
import TransferAPI

@testable import transferctl

@Suite struct URLListTests {
  private func text(_ list: URLList) throws -> String {
    var all = Data()
    let next = list.pieces()
    while let piece = try next() { all.append(piece) }
    return String(decoding: all, as: UTF8.self)
  }

  private func faults(_ list: inout URLList) throws -> [JobLines.Fault] {
    var faults: [JobLines.Fault] = []
    let count = try list.check { faults.append($0) }
    #expect(count == faults.count)
    return faults
  }

  @Test("arguments come before the file, which is sent as it is")
  func body() throws {
    let file = "\u{feff}# c\r\n\r\n http://h/2 \r\nhttp://h/3"
    var list = try URLList(["http://h/1"], listFile(Array(file.utf8)))
    #expect(try faults(&list).isEmpty)
    #expect(list.count == 3)
    #expect(try text(list) == "http://h/1\n# c\r\n\r\n http://h/2 \r\nhttp://h/3")
    #expect(list.origin(ofLine: 1) == .argument("http://h/1"))
    #expect(list.origin(ofLine: 4) == .line(3))
  }

  @Test("every bad line is reported with its number")
  func faultsOfLines() throws {
    let bytes =
      Array("http://h/1\nnope\nhttp://h/ x\n#\nftp://h/4\nhttp://h/\u{1}\nfile:///x\nhttp://h/\0".utf8) + [10, 0xFF]
    var list = try URLList(["gopher://h/"], listFile(bytes))
    let found = try faults(&list)
    #expect(found.map(\.origin) == [.argument("gopher://h/")] + [2, 3, 6, 7, 8, 9].map { .line($0) })
    #expect(found.allSatisfy { $0.status == .usage && !$0.isOfFile })
  }

  /// The two ways must not differ: a list with one line of JSON is checked by the other one.
  @Test("a list has the same faults as its lines alone")
  func equality() throws {
    for url in Self.urls {
      // After a correct URL of the same server, which makes the check shorter.
      for text in [url, "http://h.test/ok\n" + url] {
        var list = try URLList([], listFile(Array(text.utf8)))
        var lines = JobLines()
        try lines.add(file: listFile(Array(text.utf8)), JobDefaults(directory: "/d"))
        #expect(try faults(&list).map(\.message) == lines.faults.map(\.message), "\(text)")
      }
    }
  }

  static let urls = [
    "http://h.test/", "http://h.test", "http://h.test/a b", "http://h.test/\u{7f}", "http://h.test/é",
    "http://h.test/\u{85}",
    "http://h.test:1/", "http://h.test:0/", "http://h.test\\x/", "http://h.test/\\", "http://h.test@/",
    "http://@@h.test/",
    "http://[::1]/", "http://[::1/", "http:///x", "ftp://h.test/x", "nope", "HTTP://h.test/", "http://h.testx/",
  ]

  @Test("a file that changes between the check and the sending is refused")
  func changes() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/list"
    let url = URL(filePath: path)
    for changed in ["http://h/1\nhttp://h/3\n", "http://h/1\nhttp://h/2\nhttp://h/3\n", ""] {
      try Data("http://h/1\nhttp://h/2\n".utf8).write(to: url)
      var checked = URLList([], try ListFile(path))
      _ = try checked.check { _ in }
      // Without `.atomic`, the file keeps its inode.
      try Data(changed.utf8).write(to: url)
      let next = checked.pieces()
      #expect(throws: CommandFailure.self) { while try next() != nil {} }
    }
  }

  @Test("the options are one line of ASCII, and too long ones need JSON lines")
  func options() throws {
    var defaults = JobDefaults(directory: "/d\u{e9}\u{1F600}\n")
    defaults.job.options.headers["X"] = "ü"
    let text = try #require(defaults.listOptions)
    #expect(text.utf8.allSatisfy { (0x20..<0x7F).contains($0) })
    let decoder = WireCoding.decoder()
    decoder.userInfo[.newJobIsTemplate] = true
    let job = try decoder.decode(NewJob.self, from: Data(text.utf8))
    #expect(job.directory == "/d\u{e9}\u{1F600}\n" && job.options.headers == ["X": "ü"])
    defaults.job.batch = String(repeating: "x", count: 9000)
    #expect(defaults.listOptions == nil)
  }

  @Test("a long list is sent completely, in pieces", .timeLimit(.minutes(5)))
  func long() throws {
    var text = ""
    for number in 0..<20_000 { text += "http://h.test/a/rather/long/path/\(number)\n" }
    var list = try URLList([], listFile(Array(text.utf8)))
    #expect(try faults(&list).isEmpty)
    #expect(list.count == 20_000)
    #expect(try self.text(list) == text)
  }

  @Test("a body in memory and one in a temporary file are the same", arguments: [1, 10, 1 << 20])
  func spool(_ limit: Int) throws {
    let spool = BodySpool(limit: limit)
    var expected = ""
    for number in 0..<5000 {
      try spool.append("line \(number)\n".utf8)
      expected += "line \(number)\n"
    }
    #expect(String(decoding: try spool.data, as: UTF8.self) == expected)
    #expect(String(decoding: try spool.data, as: UTF8.self) == expected)
  }

  @Test("ids and origins are kept as ranges")
  func ranges() {
    var ids = AddedIDs()
    for id in [1...3, 4...4, 10...11] as [ClosedRange<Int64>] { ids.append(id) }
    #expect(ids.all.map(\.rawValue) == [1, 2, 3, 4, 10, 11] && ids.count == 6)
    var map = OriginMap()
    let origins: [JobLines.Origin] = [
      .argument("a"), .argument("a"), .argument("a"), .line(1), .line(2), .line(4), .line(4), .line(4), .line(5),
      .item(5),
      .path("x"),
    ]
    for origin in origins { map.append(origin) }
    #expect(map.all == origins)
    #expect(map.origin(ofLine: 0) == nil && map.origin(ofLine: 12) == nil)
    var answered = AnsweredLines(skipsGaps: true)
    #expect([1...5, 9...9, 3...3].map { answered.insert($0) } == [true, true, false] && answered.count == 6)
    var keyed = AnsweredLines(skipsGaps: false)
    #expect([1...5, 9...9, 7...7, 9...9].map { keyed.insert($0) } == [true, true, true, false] && keyed.count == 7)
  }
}
