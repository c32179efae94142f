import CCurl
import Testing

@testable import TransferEngine

@Suite struct RemoteDecisionTests {
  static func stored(size: Int64?, time: Int64?, refusals: Int = 0) -> ResumeData {
    var validators = Validators()
    validators.modificationTime = time
    var data = ResumeData(
      url: "sftp://h/x", validators: validators, totalBytes: size,
      partialFile: .init(directory: "/", name: "p", identity: .init(device: 1, inode: 1), finalName: "x"),
      checkpointBytes: 0, bootID: "")
    data.refusals = refusals
    return data
  }

  static let question = RangeQuestion(start: 100 - 64, bytesOnDisk: 100)

  @Test("if size and time agree or are unknown, the overlap decides")
  func append() {
    for (size, time) in [(200, 5), (200, nil), (nil, 5), (nil, nil)] as [(Int64?, Int64?)] {
      let decision = ResumeDecision(
        facts: RemoteFileFacts(size: size, modificationTime: time), question: Self.question,
        stored: Self.stored(size: 200, time: 5))
      #expect(decision == .append(overlap: 64, total: 200))
    }
  }

  @Test(
    "another size, another time, or a file smaller than the stored bytes prevents a resume",
    arguments: [(201, 5), (199, 5), (200, 6), (99, nil)] as [(Int64?, Int64?)])
  func changed(_ size: Int64?, _ time: Int64?) {
    let decision = ResumeDecision(
      facts: RemoteFileFacts(size: size, modificationTime: time), question: Self.question,
      stored: Self.stored(size: size == 99 ? nil : 200, time: 5))
    guard case .nextStrategy = decision else {
      Issue.record("\(decision)")
      return
    }
  }

  @Test("the whole file is requested if it cannot be resumed")
  func questions() {
    let data = Self.stored(size: 1000, time: 5)
    #expect(RangeQuestion.rest(of: nil, bytesOnDisk: 10, scheme: "sftp") == .whole)
    #expect(RangeQuestion.rest(of: data, bytesOnDisk: 0, scheme: "ftp") == .whole)
    #expect(RangeQuestion.rest(of: data, bytesOnDisk: 10, scheme: "scp") == .whole)
    #expect(
      RangeQuestion.rest(of: Self.stored(size: 9, time: 5, refusals: 2), bytesOnDisk: 10, scheme: "ftp") == .whole)
    #expect(RangeQuestion.rest(of: data, bytesOnDisk: 10, scheme: "sftp") == RangeQuestion(start: 0, bytesOnDisk: 10))
    let far = RangeQuestion.rest(of: data, bytesOnDisk: 1 << 20, scheme: "ftp")
    #expect(far.overlap == RangeStrategies.overlapBytes && far.bytesOnDisk == 1 << 20)
  }

  @Test(
    "file names are quoted in SFTP commands",
    arguments: [
      ("sftp://h/a%20b/c", #""/a b/c""#), ("sftp://h/~/a", #""a""#), ("sftp://h/it's", #""/it\'s""#),
      ("sftp://h/a%22;rm%20x", #""/a\";rm x""#), ("sftp://h/a%5Cb", #""/a\\b""#), ("sftp://h/a%0Ab", "\"/a\nb\""),
    ])
  func quoting(_ url: String, _ quoted: String) throws {
    let path = try RemotePath(RequestURL(url))
    #expect(path.quoted == quoted)
    #expect(RemoteCommand.remove(path, mayFail: false).lines(isFTP: false) == ["rm " + quoted])
  }

  @Test(
    "FTP paths are relative to the login directory unless the URL has two slashes",
    arguments: [("ftp://h/a/b", "a/b"), ("ftp://h//a/b", "/a/b"), ("ftp://h/%2Fa/b", "/a/b"), ("ftp://h/a/", "a")])
  func ftpPaths(_ url: String, _ text: String) throws {
    #expect(try RemotePath(RequestURL(url)).text == text)
  }

  @Test("a path is split into its steps from the top")
  func steps() throws {
    #expect(try RemotePath(RequestURL("sftp://h/a/b/c")).steps.map(\.text) == ["/a", "/a/b", "/a/b/c"])
    #expect(try RemotePath(RequestURL("sftp://h/~/a/b")).steps.map(\.text) == ["a", "a/b"])
  }

  static func translate(_ code: CURLcode, _ status: Int, _ reply: String, scheme: String = "ftp") throws
    -> TransferError
  {
    let request = TransferRequest(url: try RequestURL("\(scheme)://h/a"))
    return RemoteErrors.translate(
      code,
      .init(
        options: RemoteOptions(request, SessionConfiguration()), host: "h:21", status: status, reply: reply,
        systemError: 0,
        received: 0, isConnected: true))
  }

  @Test(
    "temporary failures differ from permanent ones",
    arguments: [
      (CURLE_LOGIN_DENIED, 530, "530 Login incorrect.", false), (CURLE_LOGIN_DENIED, 530, "530 Too many users", true),
      (CURLE_LOGIN_DENIED, 421, "421 Service not available", true),
      (CURLE_REMOTE_FILE_NOT_FOUND, 550, "550 No such", false),
      (CURLE_WEIRD_SERVER_REPLY, 421, "421 Too many connections", true),
      (CURLE_FTP_COULDNT_RETR_FILE, 450, "450 Busy", true),
      (CURLE_FTP_COULDNT_RETR_FILE, 551, "551 Page type unknown", false), (CURLE_UPLOAD_FAILED, 552, "552 Quota", true),
      (CURLE_UPLOAD_FAILED, 553, "553 Not allowed", false), (CURLE_PARTIAL_FILE, 426, "426 Aborted", true),
      (CURLE_FTP_WEIRD_PASV_REPLY, 425, "425 Cannot open", true), (CURLE_SSH, 0, "", true),
    ])
  func transience(_ code: CURLcode, _ status: Int, _ reply: String, _ isTransient: Bool) throws {
    #expect(try Self.translate(code, status, reply).isTransient == isTransient)
  }

  @Test("every code libcurl can return has a meaning and a text", arguments: 1...99, ["ftp", "sftp", "scp"])
  func everyCode(_ code: Int, _ scheme: String) throws {
    let error = try Self.translate(CURLcode(UInt32(code)), 0, "", scheme: scheme)
    #expect(!"\(error)".isEmpty)
    // libcurl uses these four codes only for HTTP.
    #expect([16, 22, 92, 95].contains(code) || !"\(error)".contains("HTTP"))
  }

  @Test("a server's reply is shown without control characters and with at most 300 characters")
  func printable() {
    #expect(RemoteErrors.printable("550 \u{1B}[31mno\r\n") == "550  [31mno")
    #expect(RemoteErrors.printable(String(repeating: "x", count: 5000)).count == 300)
  }
}
