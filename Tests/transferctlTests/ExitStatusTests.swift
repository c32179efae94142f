import ArgumentParser
import FoundationEssentials
import Testing
import TransferAPI

@testable import transferctl

@Suite struct ExitStatusTests {
  @Test(
    "each problem code has an exit status",
    arguments: [
      (Problem.Code.invalid, 64), (.notFound, 4), (.permission, 5), (.notAllowed, 6),
      (.destinationExists, 73), (.destinationMissing, 73), (.unavailable, 3), (.tooLarge, 1),
      (.methodNotAllowed, 1), (.unsupportedMediaType, 1), (.diskFull, 1), (.internal, 1),
    ] as [(Problem.Code, Int32)])
  func problems(code: Problem.Code, status: Int32) {
    #expect(ExitStatus(code).rawValue == status)
    #expect(CommandFailure(Problem(code, "words")) == CommandFailure(ExitStatus(code), "words"))
  }

  @Test("each other error has an exit status")
  func others() {
    #expect(CommandFailure(ControlError.unreachable("x"))?.status == .unreachable)
    #expect(CommandFailure(ControlError.unexpected("x"))?.status == .failed)
    #expect(CommandFailure(OutputError(code: 28))?.status == .failed)
    #expect(CommandFailure(WireError("x"))?.status == .usage)
    #expect(CommandFailure(ValidationError("x")) == nil)
    // The path and the query are made of arguments.
    let long = Data(#"{"code":"too-large","detail":"x","status":414}"#.utf8)
    #expect(CommandFailure(ControlClient.refusal(status: 414, body: long))?.status == .usage)
  }

  @Test("a path of the command line at which no file can be is a usage error", arguments: [10, 300, 5000])
  func noSuchFile(_ length: Int) {
    let path = "/nonexistent-" + String(repeating: "a", count: length)
    let list = #expect(throws: CommandFailure.self) { _ = try ListFile(path) }
    #expect(list?.status == .usage)
    let short = #expect(throws: CommandFailure.self) { _ = try InputFile.read(path) }
    #expect(short?.status == .usage)
  }

  @Test(
    "unknown options and unsuitable values are usage errors",
    arguments: [
      ["add"], ["add", "http://a", "--segments", "33"],
      ["add", "http://a", "--window", "22:00"], ["add", "http://a", "--window", "24:00-06:00"],
      ["add", "http://a", "--after", "x"], ["add", "http://a", "--after", "batch:"],
      ["add", "http://a", "--batch", "b", "--after", "batch:b"], ["upload", "/a", "--to", "http://a/", "--after", "0"],
      ["plan", "1"], ["plan", "--batch", "b", "--all"], ["plan", "--format", "table"],
      ["add", "http://a", "http://b", "-o", "x"], ["add", "-i", "f", "-o", "x"],
      ["add", "http://a", "-o", "../x"], ["add", "http://a", "-o", "x", "-J"],
      ["add", "http://a", "--timeout", "3"], ["add", "http://a", "http://b", "--key", "k"],
      ["add", "-i", "f", "--key", "k"], ["add", "http://a", "--limit-rate", "0"],
      ["add", "http://a", "--limit-rate", "-1"], ["add", "http://a", "--header", "Host: b"],
      ["add", "http://a", "--header", "X: 1", "--header", "x: 2"],
      ["add", "http://a", "--header", "Proxy-Authorization: Basic eA=="],
      ["add", "http://a", "--checksum", "md5=1"],
      ["add", "http://a", "--retries", "-1"], ["add", "http://a", "--stall-timeout", "soon"],
      ["add", "http://a", "--batch", ""], ["add", "http://a", "-d", ""],
      ["limit", "--down", "fast"], ["upload", "x", "--to", "http://a", "--segments", "2"], ["nonsense"],
      ["status", "--state", "done"], ["status", "x"], ["status", "0"], ["status", "--format", "xml"],
      ["status", "--watch", "--format", "json"], ["show"], ["show", "-1"], ["wait"], ["wait", "1", "--all"],
      ["wait", "1", "--timeout", "0"], ["pause"], ["pause", "1", "--all"],
      ["cancel", "--batch", "b", "--state", "queued"], ["remove", "--state", "x"], ["set", "1"], ["set"],
      ["set", "1", "2", "--url", "http://a"], ["set", "1", "--url", "file:///x"],
      ["set", "1", "--limit-rate", "x"], ["events", "--since", "x"], ["batch", "show"], ["import"],
      ["daemon", "kill"], ["export", "1", "--all"],
    ])
  func usage(arguments: [String]) {
    let error = #expect(throws: (any Error).self) { _ = try Transferctl.parseAsRoot(arguments) }
    if let error { #expect(Transferctl.exitCode(for: error).rawValue == ExitStatus.usage.rawValue) }
  }

  @Test(
    "every command takes --socket and --no-autostart",
    arguments: [
      ["add", "http://a"], ["status"], ["ls"], ["show", "1"], ["events"], ["watch"], ["wait", "--all"],
      ["pause", "1"], ["resume", "1"], ["cancel", "1"], ["retry", "1"], ["remove", "1"],
      ["set", "1", "--priority", "1"], ["batch", "ls"], ["batch", "show", "b"], ["export"], ["import", "-"],
      ["daemon", "start"], ["daemon", "stop"], ["daemon", "status"], ["daemon", "reload"], ["version"],
    ])
  func connectionOptions(arguments: [String]) {
    #expect(throws: Never.self) { try Transferctl.parseAsRoot(arguments + ["--socket", "/x", "--no-autostart"]) }
  }

  @Test("help is not an error")
  func help() {
    let error = #expect(throws: (any Error).self) {
      var command = try Transferctl.parseAsRoot(["add", "--help"])
      try command.run()
    }
    if let error { #expect(Transferctl.exitCode(for: error) == .success) }
  }
}
