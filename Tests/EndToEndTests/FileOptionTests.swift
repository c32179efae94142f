import Foundation
import Glibc
import TestSupport
import Testing

/// --mode, --remote-time and --max-size.
@Suite("options of the downloaded file", .timeLimit(.minutes(5))) struct FileOptionTests {
  @Test("permissions and the server's time are set, alone, in lists, and after a pause and a restart")
  func attributes() async throws {
    let nginx = try await Nginx()
    try Payload(size: 5_000).write(to: nginx.root + "/a")
    var times = [timespec(tv_sec: 784_111_777, tv_nsec: 0), timespec(tv_sec: 784_111_777, tv_nsec: 0)]
    utimensat(AT_FDCWD, nginx.root + "/a", &times, 0)
    let daemon = try await Daemon()
    func add(_ name: String, _ more: String...) async throws -> ChildProcess.Result {
      try await daemon.run(
        ["add", nginx.url("/a"), "-d", daemon.downloads, "-o", name, "--mode", "0640", "--remote-time"] + more)
    }
    #expect(try await add("alone", "--wait").status == 0)
    let id = try #require(try await add("paused", "--paused").lines.first)
    try await daemon.restart()
    _ = try await daemon.ctl("resume", id)
    #expect(try await daemon.ctl("wait", id).status == 0)
    let lines = (0..<5).map {
      #"{"url":"\#(nginx.url("/a"))","destination":"\#(daemon.downloads)/\#($0)","mode":"0640","remoteTime":true}"#
    }
    let list = try await daemon.run(["add", "-i", "-", "--wait"], input: Data(lines.joined(separator: "\n").utf8))
    #expect(list.status == 0, "\(list.stderr)")
    for name in ["alone", "paused"] + (0..<5).map(String.init) {
      var status = stat()
      #expect(stat(daemon.downloads + "/" + name, &status) == 0)
      #expect(status.st_mode & 0o777 == 0o640 && status.st_mtim.tv_sec == 784_111_777, "\(name)")
    }
    let options = try await daemon.curl("/v1/jobs/\(id)").json["options"] as? [String: Any]
    #expect(options?["mode"] as? String == "0640" && options?["remoteTime"] as? Bool == true)
    #expect(try await daemon.ctl("show", id).stdout.contains("time of the server"))
  }

  @Test("a file above --max-size fails with too-large and leaves nothing, whether its length is announced or not")
  func maxSize() async throws {
    for framing in [Answer.Framing.length, .chunks(isEnded: true)] {
      let server = try LoopbackServer(
        FileBehaviour.file(size: 3_000_000).answering { answer, _ in answer.framing = framing })
      let daemon = try await Daemon()
      let refused = try await daemon.ctl(
        "add", server.url("/a"), "-d", daemon.downloads, "--max-size", "2M", "--wait")
      #expect(refused.status == 1)
      let job = try await daemon.job(try #require(refused.lines.first))
      #expect(job.error?.code == "too-large" && job.error?.transient == false, "\(job)")
      #expect(try daemon.directory.names(in: "downloads").isEmpty)
      let accepted = try await daemon.ctl(
        "add", server.url("/a"), "-d", daemon.downloads, "--max-size", "3M", "--wait")
      #expect(accepted.status == 0, "\(accepted.stderr)")
    }
  }

  @Test(
    "a mistake is named before a job exists",
    arguments: [
      ["--mode", "1777"], ["--mode", "0999"], ["--mode", "rw"], ["--mode", ""], ["--max-size", "0"],
      ["--max-size", "big"], ["--max-size", "99999999999G"],
    ])
  func mistakes(_ options: [String]) async throws {
    let daemon = try await Daemon()
    let result = try await daemon.run(["add", "http://127.0.0.1:9/a", "-d", daemon.downloads] + options)
    #expect(result.status == 64 && !result.stderr.isEmpty, "\(result.status) \(result.stderr)")
    let upload = try await daemon.run(
      ["upload", try daemon.source("s", Payload(size: 1)), "--to", "http://127.0.0.1:9/a"] + options)
    #expect(upload.status == 64)
    #expect(try await daemon.jobs().isEmpty)
  }
}
