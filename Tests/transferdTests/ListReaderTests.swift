import NIOCore
import Store
import Testing
import TransferAPI

@testable import transferd

@Suite struct ListReaderTests {
  private func read(_ bytes: [UInt8], _ format: BulkFormat, chunk: Int, maximum: Int = 100) -> [String] {
    var cutter = ListCutter(separator: format == .paths ? 0 : 10, maximumItemBytes: maximum)
    var reader = ListReader(format, maximumItemBytes: maximum)
    var pieces: [ListCutter.Piece] = []
    for start in stride(from: 0, to: bytes.count, by: chunk) {
      pieces += cutter.take(ByteBuffer(bytes: bytes[start..<min(start + chunk, bytes.count)]))
    }
    if let last = cutter.finish() { pieces.append(last) }
    return pieces.flatMap { reader.items(of: $0) { .success(String(decoding: $0, as: UTF8.self)) } }.map { item in
      switch item.result {
      case .success(let text): "\(item.number) \(text)"
      case .failure(let problem): "\(item.number) \(problem.code.rawValue)"
      }
    }
  }

  @Test("lines are complete wherever the bytes are split", arguments: [1, 2, 3, 7, 1000])
  func urls(_ chunk: Int) {
    let text = "\u{feff}http://h/1\r\n# comment\n\n  http://h/é \t\n \r\n#\nhttp://h/7"
    #expect(read(Array(text.utf8), .urls, chunk: chunk) == ["1 http://h/1", "4 http://h/é", "7 http://h/7"])
  }

  @Test("paths keep every byte, and empty ones are counted", arguments: [1, 2, 3, 7, 1000])
  func paths(_ chunk: Int) {
    let text = "/a b\0#c\n\0\0/d\r\0/last"
    #expect(read(Array(text.utf8), .paths, chunk: chunk) == ["1 /a b", "2 #c\n", "4 /d\r", "5 /last"])
  }

  @Test("a job that waits for the store counts with its texts, so that few long URLs wait and many short ones")
  func weights() {
    let long = String(repeating: "u", count: 32_000)
    let spec = JobSpec(owner: 1, url: "http://h/?" + long, origin: "http://h:80", destination: "/d/u")
    #expect(ListChecker.weight(of: .success(spec)) == 256 + spec.source.utf8.count + 4)
    #expect(ListChecker.weight(of: .failure(Problem(.invalid, "no"))) == 258)
  }

  @Test("an item that is too long is refused once, and the next one is read", arguments: [1, 9, 64, 10_000])
  func tooLong(_ chunk: Int) {
    let long = String(repeating: "x", count: 500)
    let text = "http://h/1\n\(long)\nhttp://h/3\n\(long)"
    #expect(
      read(Array(text.utf8), .urls, chunk: chunk) == ["1 http://h/1", "2 too-large", "3 http://h/3", "4 too-large"])
  }

  @Test("a URL with ever more combining marks is refused; a path may have them")
  func marks() {
    let (few, many) = (String(repeating: "\u{301}", count: 127), String(repeating: "\u{301}", count: 128))
    let urls = read(Array("http://a\(few)/\nhttp://a\(many)/\nhttp://h/3".utf8), .urls, chunk: 64, maximum: 1000)
    #expect(urls == ["1 http://a\(few)/", "2 invalid", "3 http://h/3"])
    #expect(read(Array("/a\(many)".utf8), .paths, chunk: 64, maximum: 1000) == ["1 /a\(many)"])
  }

  @Test("the content type selects the form; anything else is JSON lines")
  func formats() {
    let table: [(String?, BulkFormat)] = [
      (nil, .jsonLines), ("application/x-ndjson", .jsonLines), ("application/json", .jsonLines),
      ("text/plain", .jsonLines),
      ("text/uri-list", .urls), ("Text/URI-List; charset=utf-8", .urls), ("text/uri-list ;x=y", .urls),
      ("application/vnd.transferd.paths", .paths),
    ]
    for (type, format) in table { #expect(BulkFormat(contentType: type) == format, "\(type ?? "-")") }
  }

  @Test("common options are strict JSON of limited size")
  func options() throws {
    #expect(try BulkFormat.urls.options([#"{"directory":"/d","priority":3}"#]).priority == 3)
    #expect(try BulkFormat.paths.options([#"{"destination":"http://h/","kind":"upload"}"#]).kind == .upload)
    #expect(try BulkFormat.urls.options([]).directory == nil)
    let wrong: [(BulkFormat, [String], Problem.Code)] = [
      (.urls, ["{"], .invalid), (.urls, ["[]"], .invalid), (.urls, [#"{"prio":1}"#], .invalid),
      (.urls, [#"{"source":"http://h/"}"#], .invalid), (.urls, [#"{"kind":"upload"}"#], .invalid),
      (.paths, [#"{"spool":"x"}"#], .invalid), (.urls, ["{}", "{}"], .invalid), (.jsonLines, ["{}"], .invalid),
      (.urls, [#"{"batch":"\#(String(repeating: "x", count: 8200))"}"#], .tooLarge),
    ]
    for (format, fields, code) in wrong {
      do throws(Problem) {
        _ = try format.options(fields)
        Issue.record("accepted: \(fields)")
      } catch {
        #expect(error.code == code, "\(fields)")
      }
    }
  }

  @Test("consecutive lines with consecutive ids form a run; everything else has a line of its own")
  func answers() throws {
    var added = AddedLines()
    func submission(_ id: Int64) -> Result<Submission, Problem> {
      .success(Submission(id: JobID(id), existing: false, state: .queued))
    }
    try added.append(submission(7), line: 1)
    try added.append(submission(8), line: 2)
    try added.append(.failure(Problem(.invalid, "no")), line: 3)
    try added.append(submission(9), line: 4)
    try added.append(submission(10), line: 6)
    try added.append(.success(Submission(id: JobID(3), existing: true, state: .paused)), line: 7)
    try added.append(submission(11), line: 8)
    try added.append(submission(20), line: 9)
    added.finish()
    #expect(
      String(buffer: added.bytes) == """
        {"lines":[1,2],"ids":[7,8]}
        {"error":{"code":"invalid","detail":"no","status":400},"line":3}
        {"lines":[4,4],"ids":[9,9]}
        {"lines":[6,6],"ids":[10,10]}
        {"existing":true,"id":3,"line":7,"state":"paused"}
        {"lines":[8,8],"ids":[11,11]}
        {"lines":[9,9],"ids":[20,20]}

        """)
  }
}
