import Foundation
import Glibc
import TestSupport
import Testing

/// `upload -`: the daemon stores standard input until the server has it.
@Suite("standard input", .timeLimit(.minutes(5))) struct UploadSpoolTests {
  @Test("the input is stored before the id is printed, survives a kill, and is deleted after its upload")
  func survives() async throws {
    let nginx = try await Nginx(.init(uploads: true))
    let daemon = try await Daemon()
    let payload = Payload(size: 5 << 20 + 17)
    let result = try await daemon.run(
      ["upload", "-", "--name", "dump.sql", "--to", nginx.url("/backups/"), "--paused"], input: payload.data)
    #expect(result.status == 0 && result.lines == ["1"], "\(result.stderr)")
    try await daemon.restart(by: SIGKILL)
    #expect(daemon.spooled.count == 1)
    #expect(try await daemon.ctl("resume", "1").status == 0)
    #expect(try await daemon.finished("1").state == "completed")
    #expect(try sha256(ofFile: nginx.root + "/backups/dump.sql") == payload.sha256)
    try await eventually("the spool to be empty") { daemon.spooled.isEmpty }
  }

  @Test("the input continues at its offset if the daemon is killed while it is read")
  func killedWhileReading() async throws {
    let nginx = try await Nginx(.init(uploads: true))
    let daemon = try await Daemon()
    let payload = Payload(size: 96 << 20)
    var launch = try daemon.ctlLaunch(["upload", "-", "--name", "big", "--to", nginx.url("/"), "--wait"])
    launch.input = payload.data
    let upload = try ChildProcess(launch)
    try await eventually("some of its bytes") { !daemon.spooled.isEmpty }
    try await daemon.restart(by: SIGKILL)
    let result = try await upload.result(timeout: .seconds(100))
    #expect(result.status == 0, "\(result.stderr)")
    #expect(try sha256(ofFile: nginx.root + "/big") == payload.sha256)
  }

  @Test("a refused or existing job leaves no spooled input")
  func notAdded() async throws {
    let daemon = try await Daemon()
    let arguments = ["upload", "-", "--name", "k", "--to", "http://127.0.0.1:9/in/", "--paused"]
    let input = Data(count: 100_000)
    for wrong in [["--priority", "5000"], ["--on-success", "delete"], ["--endpoint", "http://x"]] {
      let result = try await daemon.run(arguments + wrong, input: input)
      #expect(result.status == 64 && result.stdout == "", "\(wrong): \(result.stderr)")
    }
    #expect(daemon.spooled.isEmpty)
    for _ in 0..<2 {
      #expect(try await daemon.run(arguments + ["--key", "once"], input: input).stdout == "1\n")
      #expect(daemon.spooled.count == 1)
    }
  }

  @Test("the input is deleted with its job, and kept for a failed one", arguments: ["cancel", "remove", "retry"])
  func ended(_ verb: String) async throws {
    let isRepaired = Watched(false)
    let server = try LoopbackServer { _ in .response(isRepaired.value ? 201 : 403) }
    let daemon = try await Daemon()
    let isPaused = verb != "retry"
    let id = try await daemon.run(
      ["upload", "-", "--name", "x", "--to", server.url("/"), "--protocol", "plain"] + (isPaused ? ["--paused"] : []),
      input: Data("content".utf8)
    ).lines[0]
    if !isPaused {
      #expect(try await daemon.finished(id).state == "failed")
      #expect(daemon.spooled.count == 1)
      isRepaired.mutate { $0 = true }
    }
    #expect(try await daemon.ctl(verb, id).status == 0)
    if verb == "retry" { #expect(try await daemon.finished(id).state == "completed") }
    try await eventually("the spool to be empty") { daemon.spooled.isEmpty }
  }

  @Test("Ctrl-C while the input is read leaves nothing and reports it")
  func interrupted() async throws {
    let daemon = try await Daemon()
    // Some of the input comes, then nothing for a long time.
    let line = "trap : INT; (head -c 3000000 /dev/zero; exec sleep 60) | \"$0\" \"$@\""
    let inner = try daemon.ctlLaunch(["upload", "-", "--name", "x", "--to", "http://127.0.0.1:9/"])
    var launch = inner
    launch.program = "/bin/sh"
    launch.arguments = ["-c", line, inner.program] + inner.arguments
    let upload = try ChildProcess(launch)
    try await eventually("something to be spooled") { !daemon.spooled.isEmpty }
    upload.signalGroup(SIGINT)
    let result = try await upload.result(timeout: .seconds(20))
    #expect(result.status == 130 && result.stderr.contains("nothing was added"), "\(result.stderr)")
    try await eventually("the spool to be empty") { daemon.spooled.isEmpty }
    #expect(try await daemon.storedIDs().isEmpty)
  }

  @Test("a wrong URL is reported before the input is read, and a known key leaves no spooled input")
  func refused() async throws {
    let daemon = try await Daemon()
    #expect(
      try await daemon.run(["upload", "-", "--name", "x", "--to", "nonsense"], input: Data("x".utf8)).status == 64)
    #expect(daemon.spooled.isEmpty)
    let arguments = ["upload", "-", "--name", "x", "--to", "http://127.0.0.1:9/", "--paused", "--key", "{name}"]
    for _ in 0..<2 { #expect(try await daemon.run(arguments, input: Data("x".utf8)).lines == ["1"]) }
    #expect(daemon.spooled.count == 1)
  }
}
