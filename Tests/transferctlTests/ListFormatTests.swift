import Testing
import TransferAPI
import WireValues

@testable import transferctl

@Suite("Formats of -i") struct ListFormatTests {
  @Test(
    "the content decides about the format",
    arguments: [
      ("http://h/1\n# c\n\n  http://h/2  \n", .urls), ("", .urls), ("nope\n  x\n", .urls),
      ("http://h/{1}\n# {\n", .urls),
      ("http://h/1\n \t{\"url\":\"http://h/2\"}\n", .jsonl), ("{\n", .jsonl),
      ("http://h/1\n  out=x\n", .aria2), ("http://h/1\n\tuser-agent=x\n", .aria2), ("http://h/1\thttp://i/1\n", .aria2),
      ("http://h/1\tcomment\n", .urls), ("{\"url\":\"http://h/1\"}\n  out=x\n", .jsonl),
      ("# http://h\thttp://i\n", .urls),
      ("url,out\nhttp://h/1,x\n", .csv), ("\u{FEFF}\"url\"\r\nhttp://h/1\r\n", .csv), ("out,source\n", .csv),
      ("url\n", .csv),
      ("http://h/1\nurl,out\n", .urls), ("http://h/url,x\n", .urls),
    ] as [(String, InputFormat)])
  func decided(_ text: String, _ format: InputFormat) throws {
    #expect(try InputFormat.decided(by: listFile(Array(text.utf8)), hasGlobs: false) == format)
  }

  @Test("with --glob a line may begin with a list in braces")
  func globs() throws {
    for (line, format) in [("{http,ftp}://h/", InputFormat.urls), ("{ \"url\":1}", .jsonl), ("{}", .jsonl)] {
      #expect(try InputFormat.decided(by: listFile(Array(line.utf8)), hasGlobs: true) == format)
      #expect(try InputFormat.decided(by: listFile(Array(line.utf8)), hasGlobs: false) == .jsonl)
    }
  }

  /// The lines of the jobs, or of their faults.
  private func read(
    _ text: String, _ format: InputFormat, isMixed: Bool = true, _ defaults: JobDefaults = JobDefaults(directory: "/d")
  ) throws -> (jobs: [String], faults: [String]) {
    var lines = JobLines(.json)
    try lines.add(file: listFile(Array(text.utf8)), defaults, format: format, isMixed: isMixed)
    let json = String(decoding: try lines.spool.data, as: UTF8.self).split(separator: "\n").map(String.init)
    return (json, lines.faults.map { "\($0.origin): \($0.message)" })
  }

  @Test("a named format takes no other lines")
  func named() throws {
    #expect(try read("http://h/1\n{}\n", .jsonl, isMixed: false).faults.first == "line 1: is no JSON object")
    #expect(try read("{\"url\":\"http://h/1\"}\n", .urls).faults.first?.hasPrefix("line 1: not a URL") ?? false)
  }

  @Test("an entry of aria2 becomes a job")
  func aria2() throws {
    let text = """
      # list
      http://h/1
        out=a b.txt
        dir=sub
      \tchecksum=sha-1=\(ChecksumListTests.sha1)
        header=X-A: 1
        header = X-B: 2
        referer=http://r/
        user-agent=me
        max-download-limit=10K
        split=1
        max-tries=0
        connect-timeout=60
        allow-overwrite=true
        check-certificate=false

      http://h/2\r
        out={name}.x\r
      http://h/3
      """
    let (jobs, faults) = try read(text, .aria2)
    #expect(faults == [])
    try #require(jobs.count == 3)
    #expect(
      jobs[0] == #"{"checksum":"sha-1=\#(ChecksumListTests.sha1)","connectTimeout":60,"destination":"/d/sub/a b.txt","#
        + #""headers":{"X-A":"1","X-B":"2"},"insecure":true,"kind":"download","limitRate":10240,"maxAttempts":1000000,"#
        + #""referer":"http://r/","replace":true,"segments":1,"source":"http://h/1","userAgent":"me"}"#)
    #expect(jobs[1] == #"{"destination":"/d/{name}.x","kind":"download","source":"http://h/2"}"#)
    #expect(jobs[2] == #"{"directory":"/d","kind":"download","source":"http://h/3"}"#)
  }

  @Test(
    "options of aria2 that mean nothing here are named, with their line",
    arguments: [
      ("http://h/1\n  bt-tracker=x\n", "line 2: the option bt-tracker of aria2 is not supported"),
      ("http://h/1\n  out=../x\n", "line 2: "), ("http://h/1\n  out=/x\n", "line 2: "),
      ("http://h/1\n  out=\n", "line 2: "),
      ("http://h/1\n  dir=\n", "line 2: the option dir is empty"), ("http://h/1\n  split=0\n", "line 2: split is"),
      ("http://h/1\n  out=a\n  out=b\n", "line 3: the option out is given twice"),
      ("http://h/1\n  header=X: 1\n  header=x: 2\n", "line 3: the header x is given twice"),
      ("http://h/1\n  allow-overwrite=maybe\n", "line 2: allow-overwrite is true or false"),
      ("http://h/1\n  hello\n", "line 2: is indented, but no option"),
      ("  out=x\nhttp://h/1\n", "line 1: has an option, but no URI"),
      ("http://h/1\n  checksum=sha-224=00\n", "line 1: checksum: unknown checksum algorithm"),
      ("magnet:?x\n", "line 1: not a URL"),
      ("http://h/1\n  max-download-limit=x\n", "line 1: "), ("\thttp://h/1\n", "line 1: is indented"),
      ("http://h/1\n" + String(repeating: "  header=X: 1\n", count: 1001), "line 1002: is one of more than 1000"),
    ])
  func aria2Faults(_ text: String, _ fault: String) throws {
    let found = try read(text, .aria2)
    #expect(found.faults.first?.hasPrefix(fault) ?? false, "\(found.faults)")
  }

  /// These two depend on options that a release may not have.
  @Test("several URIs are mirrors, and split is the number of segments, where these exist")
  func mirrors() throws {
    let several = try read("http://h/1\thttp://i/1\n", .aria2)
    let split = try read("http://h/1\n  split=4\n", .aria2)
    if JobOptions.names.contains("mirrors") {
      #expect(several.jobs.first?.contains(#""mirrors":["http://i/1"]"#) ?? false, "\(several.faults)")
    } else {
      #expect(several.faults.first?.hasPrefix("line 1: has several URIs of one file, but mirrors") ?? false)
    }
    if JobOptions.names.contains("segments") {
      #expect(split.jobs.first?.contains(#""segments":4"#) ?? false, "\(split.faults)")
    } else {
      #expect(split.faults.first?.hasPrefix("line 2: the option split=4 is not supported") ?? false)
    }
  }

  @Test("a row of CSV becomes a job; columns have the names of fields or options")
  func csv() throws {
    let text =
      "url,out,dir,limit-rate,maxAttempts,remote-time,header,not-before,retry-status,batch,resolve\r\n"
      + "http://h/1,\"a, \"\"b\"\"\r\nc\",sub,1.5K,3,true,\"X-A: 1\nX-B: 2\",2027-01-01T00:00:00Z,404 423,b,h:1:::1 i:2:1.2.3.4\r\n"
      + "\r\nhttp://h/{name},,,,,,,,,,\n"
    let (jobs, faults) = try read(text, .csv)
    #expect(faults == [])
    try #require(jobs.count == 2)
    #expect(
      jobs[0]
        == #"{"batch":"b","destination":"/d/sub/a, \"b\"\r\nc","headers":{"X-A":"1","X-B":"2"},"kind":"download","#
        + #""limitRate":1536,"maxAttempts":3,"notBefore":"2027-01-01T00:00:00.000Z","remoteTime":true,"#
        + #""resolve":["h:1:::1","i:2:1.2.3.4"],"retryStatus":[404,423],"source":"http://h/1"}"#)
    #expect(jobs[1] == #"{"directory":"/d","kind":"download","source":"http://h/{name}"}"#)
    let retries = try read("source,retries,http1.1,create-dirs,priority\nhttp://h/1,0,true,yes,-4", .csv)
    #expect(retries.faults == [])
    #expect(
      retries.jobs == [
        #"{"createDirectories":true,"directory":"/d","httpVersion":"1.1","kind":"download","maxAttempts":1,"priority":-4,"#
          + #""source":"http://h/1"}"#
      ])
  }

  @Test(
    "a row that cannot be used is named by its first line",
    arguments: [
      ("url,out\nhttp://h/1\n", "line 2: has 1 fields, but the header has 2"),
      ("url,out\n\"http://h/\n1\",x\nhttp://h/2,a,b\n", "line 2: "), ("url\nnope\n", "line 2: not a URL"),
      ("url,priority\nhttp://h/1,high\n", "line 2: priority is a number"),
      ("url,paused\nhttp://h/1,maybe\n", "line 2: paused is true or false"), ("url,out\nhttp://h/1,../x\n", "line 2: "),
      ("url,retries\nhttp://h/1,-1\n", "line 2: retries is"), ("url,out,destination\nhttp://h/1,a,b\n", "line 2: "),
      ("url,checksum\nhttp://h/1,md5=1\n", "line 2: "), ("url,header\nhttp://h/1,X\n", "line 2: header: a header must"),
    ])
  func csvFaults(_ text: String, _ fault: String) throws {
    let found = try read(text, .csv)
    #expect(found.faults.first?.hasPrefix(fault) ?? false, "\(found)")
  }

  @Test(
    "a header or a quoting that is wrong ends the reading",
    arguments: [
      ("url,colour\n", "line 1: unknown column \"colour\""), ("out\n", "line 1: has no column \"url\""),
      ("url,source\n", "line 1: the column \"source\" is given twice"), ("url,method\n", "line 1: unknown column"),
      ("url,out\nhttp://h/1,\"x\n", "line 3: a quote has no end"),
      ("url\nhttp://h/\"1\"\n", "line 2: a quote stands inside"),
      ("url\n\"http://h/1\"x\n", "line 2: text follows a closing quote"),
      ("url\nhttp://h/1\rx\n", "line 2: a carriage return"),
    ])
  func csvErrors(_ text: String, _ message: String) throws {
    let error = #expect(throws: CommandFailure.self) { try read(text, .csv) }
    #expect(error?.status == .usage && error?.message?.contains(message) ?? false, "\(error?.message ?? "")")
  }

  @Test("a record of CSV is the same in pieces of any size", arguments: 1...7)
  func pieces(_ size: Int) throws {
    let bytes = Array("a,\"b\r\n\"\"c\"\r\n\r\n,d\n\"\",x".utf8)
    var parser = CSVParser()
    var records: [CSVParser.Record] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      try parser.push(rest.prefix(size)) { records.append($0) }
      rest = rest.dropFirst(size)
    }
    if let last = try parser.finish() { records.append(last) }
    #expect(records.map(\.line) == [1, 4, 5])
    #expect(
      records.map { $0.fields.map { String(decoding: $0, as: UTF8.self) } } == [
        ["a", "b\r\n\"c"], ["", "d"], ["", "x"],
      ])
  }

  @Test("relative URLs begin at --base in every format")
  func base() throws {
    var defaults = JobDefaults(directory: "/d")
    defaults.base = URLReference("http://h/x/index.html")
    for (text, format) in [
      ("a b", InputFormat.urls), ("../y", .urls), ("{\"url\":\"../y\"}", .jsonl), ("url\n../y", .csv), ("../y", .aria2),
    ] {
      let found = try read(text, format, defaults)
      if text == "a b" {
        #expect(found.faults.first?.hasPrefix("line 1: the URL has a space") ?? false)
      } else {
        #expect(found.jobs.first?.contains("\"source\":\"http://h/y\"") ?? false, "\(format) \(found)")
      }
    }
  }
}
