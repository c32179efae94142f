import ArgumentParser
import Testing
import TransferAPI

@testable import transferctl

@Suite struct FieldOptionsTests {
  private static let syntax = Result { try CommandSyntax(of: Transferctl.self) }

  /// The commands that set fields.
  private static func commands() throws -> [CommandSyntax] {
    let root = try syntax.get()
    var commands: [CommandSyntax] = []
    for path in [["add"], ["upload"], ["folder", "add"], ["limit"], ["batch", "set"], ["status"]] {
      var command = root
      for name in path {
        let next = command.subcommand(name)
        command = try #require(next)
      }
      commands.append(command)
    }
    return commands
  }

  @Test("every field that a caller may set has an option that exists, or is known to have none")
  func table() throws {
    let commands = try Self.commands()
    for field in FieldOptions.fields.sorted() {
      guard let option = FieldOptions.option(of: field) else {
        #expect(FieldOptions.withoutOption.contains(field), "\(field)")
        continue
      }
      let isKnown = commands.contains { $0.option(option) != nil }
      #expect(isKnown, "\(field): \(option)")
    }
    #expect(FieldOptions.withoutOption.isSubset(of: FieldOptions.fields))
    #expect(FieldOptions.option(of: "nonsense") == nil)
  }

  @Test("fields have the names of their options in refusals of the daemon and of the command")
  func refusals() {
    let problem = Problem(.invalid, text: "\(field: "retryFor") needs \(field: "maxAttempts")")
    #expect(CommandFailure(problem) == CommandFailure(.usage, "--retry-for needs --retries"))
    #expect(VerbRun.words(problem, about: JobID(2)) == "job 2: --retry-for needs --retries")
    let batch = Problem(.invalid, text: "repeat the request with \(field: "owner")=UID")
    #expect(CommandFailure(batch)?.message == "repeat the request with --owner=UID")
    #expect(CommandFailure(WireError(text: "\(field: "headers")")) == CommandFailure(.usage, "--header"))
  }

  @Test(
    "a usage error names options",
    arguments: [
      (["--if-changed", "--key", "k"], "--if-changed and --key contradict"),
      (["--replace", "--if-exists", "skip"], "--replace and --if-exists skip contradict"),
      (["--proxy-credentials", "env:A"], "--proxy-credentials is for a proxy; name it with --proxy"),
      (["--cert-key", "k"], "--cert-key is the key of --cert"), (["--after", "x"], "--after: \"x\""),
      (["--include", "*"], "--include is for listings; it needs --recursive"),
      (["--recursive", "-J"], "-J is for one file"), (["--credentials", "x"], "--credentials: a secret reference"),
      (["--user-agent", "x", "--header", "user-agent: y"], "by --user-agent and in --header"),
      (["--then-upload", "http://h/", "--create-dirs"], "--create-dirs is about files"),
      (["--mirror", "x"], "--mirror: the URL x"), (["--segments", "0"], "--segments must"),
      (["--retry-for", "0"], "The value '0' is invalid for '--retry-for <time>': a duration is like 30"),
      (["--max-size", "x"], "The value 'x' is invalid for '--max-size <size>': a size is a number"),
      (["--limit-rate", "x"], "The value 'x' is invalid for '--limit-rate <rate>': a rate is a number"),
      (["--not-before", "x"], "--not-before: \"x\" is no time"), (["--on-success", "x"], "--on-success: \"x\""),
    ])
  func usage(_ options: [String], _ words: String) {
    let error = #expect(throws: (any Error).self) {
      _ = try Transferctl.parseAsRoot(["add", "http://a/x"] + options)
    }
    let message = error.map { Transferctl.message(for: $0) } ?? ""
    #expect(message.hasPrefix(words) || message.contains("twice: " + words), "\(message)")
  }
}

@Suite struct UsageMessageTests {
  private func message(_ arguments: [String]) -> String {
    let error = #expect(throws: (any Error).self) { _ = try Transferctl.parseAsRoot(arguments) }
    return error.map { Transferctl.message(for: $0) } ?? ""
  }

  @Test("the name of standard input is not called -o")
  func standardInput() {
    let words = message(["upload", "-", "--to", "http://h/", "--name", ".."])
    #expect(words.hasPrefix("--name must not contain"), "\(words)")
    #expect(message(["upload", "a", "--to", ""]).hasPrefix("--to is empty"))
    #expect(message(["add", "http://a/x", "-o", ""]).hasPrefix("-o is empty"))
  }

  @Test("a header without a colon may be a secret, and is not repeated", arguments: ["--header", "--secret-header"])
  func header(_ option: String) {
    let words = message(["add", "http://a/x", option, "hunter2"])
    #expect(words.hasPrefix("\(option): a header must have the form") && !words.contains("hunter2"), "\(words)")
    #expect(words.contains("@FILE") == (option == "--header"))
  }
}

@Suite struct FieldNamingTests {
  private func faults(_ text: String, _ format: InputFormat, _ job: NewJob = NewJob(source: "")) throws -> [String] {
    var defaults = JobDefaults(directory: "/d")
    defaults.job = job
    var lines = JobLines(.json)
    try lines.add(file: listFile(Array(text.utf8)), defaults, format: format, isMixed: true)
    return lines.faults.map { "\($0.origin): \($0.message)" }
  }

  @Test(
    "a line names its fields as it has them",
    arguments: [
      (#"{"url":"http://h/1","retryFor":0}"#, InputFormat.jsonl, "line 1: retryFor: a duration"),
      (#"{"url":"http://h/1","ifChanged":true,"key":"k"}"#, .jsonl, "line 1: ifChanged and key"),
      ("url,retry-for\nhttp://h/1,0\n", .csv, "line 2: retry-for: a duration"),
      ("url,retries,priority\nhttp://h/1,1,high\n", .csv, "line 2: priority is a number"),
      ("url,not-before\nhttp://h/1,soon\n", .csv, "line 2: not-before: \"soon\""),
      ("http://h/1\n  max-tries=many\n", .aria2, "line 2: max-tries is a number"),
      ("http://h/1\n  max-download-limit=x\n", .aria2, "line 1: max-download-limit: a rate"),
    ])
  func lines(_ text: String, _ format: InputFormat, _ fault: String) throws {
    let found = try faults(text, format)
    #expect(found.count == 1 && found.first?.hasPrefix(fault) ?? false, "\(found)")
  }

  @Test("what a line does not have comes from an option, and is named by it")
  func options() throws {
    var job = NewJob(source: "")
    job.options.download.ifChanged = true
    #expect(
      try faults(#"{"url":"http://h/1","key":"k"}"#, .jsonl, job).first?.hasPrefix(
        "line 1: --if-changed and key contradict") ?? false)
  }

  @Test("the daemon's refusal of a line names both if the line and an option may have set the field")
  func daemon() {
    #expect(job().givenFields == ["batch", "retryFor"])
    let json = FieldNaming(.json, options: job().givenFields)
    #expect(json.name(of: "retryFor") == "retryFor (--retry-for)" && json.name(of: "mode") == "mode")
    #expect(json.name(of: "retryFor", given: ["retryFor"]) == "retryFor")
    #expect(json.name(of: "retryFor", given: []) == "--retry-for")
    let names = FieldNaming(.names(["maxAttempts": "retries"]))
    #expect(names.name(of: "maxAttempts") == "retries" && names.name(of: "mode") == "--mode")
    #expect(FieldNaming.options.name(of: "maxAttempts") == "--retries")
    #expect(FieldNaming.options.name(of: "source") == nil)
  }

  private func job() -> NewJob {
    var job = NewJob(source: "")
    job.batch = "b"
    job.options.schedule.retryFor = 60
    return job
  }
}
