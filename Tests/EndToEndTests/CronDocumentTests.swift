import Foundation
import Glibc
import TestSupport
import Testing

/// Follows docs/cron.md literally, except for the names of hosts, directories and programs.
@Suite("docs/cron.md", .timeLimit(.minutes(5))) struct CronDocumentTests {
  private let document: String
  private let user: FreshUser

  init() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    document = try String(contentsOf: root.appending(path: "docs/cron.md"), encoding: .utf8)
    user = try FreshUser()
    try user.directory.directory("reports/outbox")
    try user.directory.directory("reports/sent")
    try user.directory.directory("mirror/files")
  }

  /// The first code block in the language that contains the words.
  private func block(_ language: String, with words: String) throws -> String {
    let blocks = document.components(separatedBy: "```\(language)\n").dropFirst()
      .map { $0.components(separatedBy: "\n```")[0] }
    return try #require(blocks.first { $0.contains(words) })
  }

  private func adapted(_ text: String, _ server: String) throws -> String {
    let programs = (try BuiltPrograms.path("transferctl") as NSString).deletingLastPathComponent
    return text.replacing("/srv/reports", with: user.directory.path("reports"))
      .replacing("/srv/mirror", with: user.directory.path("mirror"))
      .replacing("https://host.example", with: server)
      .replacing("/usr/local/bin/transferctl", with: programs + "/transferctl")
      .replacing("transferctl upload", with: programs + "/transferctl upload")
      .replacing("transferctl folder", with: programs + "/transferctl folder")
      .replacing(programs + "/" + programs, with: programs)
  }

  /// Runs a command like cron: by sh, in `/`, with a minimal environment.
  private func cron(_ command: String) async throws -> ChildProcess.Result {
    var launch = try user.launch(["-c", command], environment: ["PATH": "/usr/bin:/bin", "SHELL": "/bin/sh"])
    launch.program = "/bin/sh"
    return try await launch.run(timeout: .seconds(90))
  }

  @Test("the crontab line uploads each file once and moves it")
  func crontab() async throws {
    let nginx = try await Nginx(.init(uploads: true))
    for name in ["a", "b c"] { try user.directory.file("reports/outbox/\(name).csv", text: name) }
    let line = try #require(try block("crontab", with: "transferctl").split(separator: "\n").last)
    let command = String(line.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)[5])
    // crontab(5): an unescaped % would end the command here.
    #expect(command.replacing("\\%", with: "").contains("%") == false)
    let adapted = try adapted(command.replacing("\\%", with: "%"), nginx.url(""))
    for _ in 1...2 {
      let result = try await cron(adapted)
      #expect(result.status == 0, "\(result.stderr)")
    }
    #expect(try user.directory.names(in: "reports/sent") == ["a.csv", "b c.csv"])
    #expect(try user.directory.names(in: "reports/outbox").isEmpty)
    try await nginx.stop()
    #expect(nginx.targets("PUT").sorted() == ["/in/a.csv", "/in/b%20c.csv"])
    #expect(try await user.ctl("batch", "ls").stdout.contains("nightly-2"))
  }

  @Test("the crontab line mirrors a list: the second night fetches only what changed, and mails one line")
  func mirror() async throws {
    let nginx = try await Nginx()
    func serve(_ text: String, _ name: String, _ time: Int) throws {
      try Data(text.utf8).write(to: URL(fileURLWithPath: nginx.root + "/" + name))
      var times = Array(repeating: timespec(tv_sec: time, tv_nsec: 0), count: 2)
      utimensat(AT_FDCWD, nginx.root + "/" + name, &times, 0)
    }
    for name in ["a", "b", "c"] { try serve("old", name, 1_000_000_000) }
    try user.directory.file("mirror/urls.txt", text: ["/a", "/b", "/c"].map { nginx.url($0) + "\n" }.joined())
    let line = try #require(try block("crontab", with: "--if-changed").split(separator: "\n").last)
    let command = String(line.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)[5])
    #expect(command.replacing("\\%", with: "").contains("%") == false)
    let adapted = try adapted(command.replacing("\\%", with: "%"), nginx.url(""))
    let first = try await cron(adapted)
    #expect(first.stdout == "3 jobs: 3 transferred, 0 unchanged, 0 skipped, 0 failed\n", "\(first.stderr)")
    try serve("new", "b", 1_100_000_000)
    let batch = try #require(try await user.ctl("batch", "ls").lines.last?.split(separator: " ").first)
    #expect(batch.hasPrefix("mirror-2"))
    #expect(try await user.ctl("remove", "--batch", String(batch)).status == 0)
    let second = try await cron(adapted)
    #expect(second.stdout == "3 jobs: 1 transferred, 2 unchanged, 0 skipped, 0 failed\n", "\(second.stderr)")
    #expect(try String(contentsOfFile: user.directory.path("mirror/files/b"), encoding: .utf8) == "new")
    let shown = try await user.ctl("batch", "show", String(batch), "--format", "json").stdout
    #expect(shown.contains(#""results":{"skipped":0,"transferred":1,"unchanged":2}"#))
  }

  @Test("the crontab line fetches a directory: the second night fetches only what changed")
  func directory() async throws {
    let nginx = try await Nginx(.init(directives: "autoindex on;"))
    func serve(_ text: String, _ path: String, _ time: Int) throws {
      let file = URL(fileURLWithPath: nginx.root + "/pub/" + path)
      try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: file)
      var times = Array(repeating: timespec(tv_sec: time, tv_nsec: 0), count: 2)
      utimensat(AT_FDCWD, file.path, &times, 0)
    }
    for path in ["a.iso", "x/b.iso", "x/note.txt", "old/c.iso"] { try serve("old", path, 1_000_000_000) }
    let line = try #require(try block("crontab", with: "--recursive").split(separator: "\n").last)
    let command = String(line.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)[5])
    let adapted = try adapted(command.replacing("\\%", with: "%"), nginx.url(""))
    let first = try await cron(adapted)
    #expect(first.stdout == "3 jobs: 3 transferred, 0 unchanged, 0 skipped, 0 failed\n", "\(first.stderr)")
    try serve("new", "x/b.iso", 1_100_000_000)
    let second = try await cron(adapted)
    #expect(second.stdout == "3 jobs: 2 transferred, 1 unchanged, 0 skipped, 0 failed\n", "\(second.stderr)")
    #expect(try String(contentsOfFile: user.directory.path("mirror/files/x/b.iso"), encoding: .utf8) == "new")
    #expect(try user.directory.names(in: "mirror/files") == ["a.iso", "x"])
  }

  @Test("the crontab line takes the day's dump to S3, once, and keeps no copy")
  func relay() async throws {
    let payload = Payload(size: 3 << 20, seed: 4)
    let (server, s3) = (try LoopbackServer(.file(payload)), try ScriptedS3())
    let line = try #require(try block("crontab", with: "--then-upload").split(separator: "\n").last)
    let command = String(line.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)[5])
    #expect(command.replacing("\\%", with: "").contains("%") == false)
    let adapted = try adapted(command.replacing("\\%", with: "%"), server.url(""))
      .replacing("--wait", with: "--endpoint \(s3.server.url("")) --wait")
    for _ in 1...2 {
      var launch = try user.launch(
        ["-c", adapted],
        environment: [
          "PATH": "/usr/bin:/bin", "SHELL": "/bin/sh", "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "word",
        ])
      launch.program = "/bin/sh"
      let result = try await launch.run(timeout: .seconds(90))
      #expect(result.status == 0, "\(result.stderr)")
    }
    #expect(sha256(of: s3.object ?? Data()) == payload.sha256)
    #expect(server.requests.count == 1 && s3.operations.count { $0 == .put || $0 == .complete } == 1)
    #expect(server.requests[0].path == "/dumps/shop.sql.gz")
    try await eventually("the copy to be deleted") { try user.directory.names(in: "state/relay").isEmpty }
  }

  @Test("the folder's recipe uploads what is there and what lands, once, and moves it")
  func folder() async throws {
    let nginx = try await Nginx(.init(uploads: true))
    try user.directory.file("reports/outbox/a.csv", text: "a")
    let line = try block("sh", with: "transferctl folder add")
    let result = try await cron(adapted(line, nginx.url("")))
    #expect(result.status == 0 && result.stdout == "1\n", "\(result.stderr)")
    try user.directory.file("reports/outbox/b.csv", text: "b")
    try await eventually("both files to be moved") {
      try user.directory.names(in: "reports/sent") == ["a.csv", "b.csv"]
    }
    try await nginx.stop()
    #expect(nginx.targets("PUT").sorted() == ["/in/a.csv", "/in/b.csv"])
  }

  @Test("the unit's command does the same, and systemd accepts both units")
  func units() async throws {
    let nginx = try await Nginx(.init(uploads: true))
    try user.directory.file("reports/outbox/a", text: "a")
    let service = try block("ini", with: "ExecStart")
    let command = try #require(service.split(separator: "\n").first { $0.hasPrefix("ExecStart=") })
    let words = command.dropFirst("ExecStart=/bin/sh -c '".count).dropLast()
    let result = try await cron("cd \(user.directory.path("reports")) && " + adapted(String(words), nginx.url("")))
    #expect(result.status == 0, "\(result.stderr)")
    #expect(try user.directory.names(in: "reports/sent") == ["a"])
    let timer = try user.directory.file("nightly-upload.timer", text: try block("ini", with: "Persistent=true"))
    let unit = try user.directory.file(
      "nightly-upload.service", text: service.replacing("/srv/reports", with: user.directory.path("reports")))
    let verify = try await Launch(try BuiltPrograms.system("systemd-analyze"), ["verify", unit, timer]).run()
    #expect(!(verify.stderr + verify.stdout).contains("nightly-upload"), "\(verify.stderr)")
  }

  @Test("a dump is uploaded from standard input")
  func dump() async throws {
    let nginx = try await Nginx(.init(uploads: true))
    let line = try block("sh", with: "pg_dump").replacing("pg_dump shop", with: "printf dumped")
    #expect(try await cron(adapted(line, nginx.url(""))).status == 0)
    let names = try FileManager.default.contentsOfDirectory(atPath: nginx.root + "/backups")
    #expect(names.count == 1 && names[0].hasPrefix("shop-2") && names[0].hasSuffix(".sql"))
    #expect(try String(contentsOfFile: nginx.root + "/backups/" + names[0], encoding: .utf8) == "dumped")
  }

  @Test("the hook writes its line")
  func hook() async throws {
    let nginx = try await Nginx(.init(uploads: true))
    let script = try user.directory.file(
      "tell", text: try block("sh", with: "uploads.log").replacing("/srv/reports", with: user.directory.path("reports"))
    )
    chmod(script, 0o755)
    let config = try block("yaml", with: "hooks:").replacing("/usr/local/bin/tell", with: script)
    let daemon = try await Daemon(config: config)
    let path = try daemon.source("a", Payload(size: 10))
    let id = try await daemon.upload(path, "--to", nginx.url("/a"))
    try await daemon.waitForHistory("hook onComplete: exit 0", of: id)
    let log = try String(contentsOfFile: user.directory.path("reports/uploads.log"), encoding: .utf8)
    #expect(log.contains(" completed {") && log.contains("\"state\":\"completed\""))
  }
}
