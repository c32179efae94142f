import Foundation
import TestSupport
import Testing
import TransferAPI

@testable import transferd

@Suite struct SecretResolverTests {
  private func resolver(_ environment: [String: String] = [:]) -> SecretResolver {
    SecretResolver(environment: environment, home: nil)
  }

  private func failure(_ resolver: SecretResolver, _ text: String) async throws -> SecretResolver.Unavailable? {
    do {
      _ = try await resolver.secret(try SecretReference(parsing: text))
      return nil
    } catch let error as SecretResolver.Unavailable {
      return error
    }
  }

  @Test("a secret comes from a variable, a file or a command, without its trailing newline")
  func found() async throws {
    let directory = try TemporaryDirectory()
    let file = try directory.file("key", text: "from file\n")
    let resolver = resolver(["TOKEN": "from env"])
    #expect(try await resolver.secret(.environment("TOKEN")) == "from env")
    #expect(try await resolver.secret(.file(file)) == "from file")
    #expect(try await resolver.secret(.command("/bin/echo 'from  command'")) == "from  command")
    #expect(try await resolver.secret(.command("echo x")) == "x")
  }

  @Test("a file is read again each time")
  func anew() async throws {
    let directory = try TemporaryDirectory()
    let file = try directory.file("key", text: "one")
    #expect(try await resolver().secret(.file(file)) == "one")
    try directory.file("key", text: "two")
    #expect(try await resolver().secret(.file(file)) == "two")
  }

  @Test("an error contains no secret and states whether it is transient")
  func missing() async throws {
    let directory = try TemporaryDirectory()
    let two = try directory.file("two", text: "s3cret\nlines\n")
    let empty = try directory.file("empty", text: "\n")
    #expect(try await failure(resolver(), "env:NOPE")?.isTransient == false)
    let lines = try #require(try await failure(resolver(["LINES": "s3cret\nlines"]), "env:LINES"))
    #expect(!lines.isTransient && !lines.description.contains("s3cret"))
    for text in [
      "file:/nonexistent", "file:\(directory.path)", "file:\(two)", "file:\(empty)", "exec:/bin/false",
      "exec:/nonexistent",
      "exec:sh -c 'printf s3cret; exit 1'", "exec:true", "exec:sh -c 'kill -9 $$'",
    ] {
      let error = try #require(try await failure(resolver(), text), "\(text)")
      #expect(error.isTransient)
      #expect(!error.description.contains("s3cret"), "\(error)")
    }
  }

  @Test("a command that prints too much is not said to be missing")
  func tooMuch() async throws {
    let error = try #require(try await failure(resolver(), "exec:head -c 100000 /dev/zero"))
    #expect(error.description == "cannot get the secret from head: it printed more than 65536 bytes")
    #expect(error.isTransient)
  }

  @Test("credentials have the form NAME:PASSWORD, or come from .netrc by host")
  func credentials() async throws {
    let directory = try TemporaryDirectory()
    try directory.file(".netrc", text: "machine h.test login u password p:w\n")
    let resolver = resolver(["HOME": directory.path, "C": "user:a:b", "BAD": "nothing"])
    let own = try await resolver.credentials(.environment("C"), for: "x")
    #expect(own.username == "user" && own.password == "a:b")
    let netrc = try await resolver.credentials(.netrc, for: "h.test")
    #expect(netrc.username == "u" && netrc.password == "p:w")
    await #expect(throws: SecretResolver.Unavailable.self) { try await resolver.credentials(.netrc, for: "other") }
    await #expect(throws: SecretResolver.Unavailable.self) {
      try await resolver.credentials(.environment("BAD"), for: "x")
    }
  }
}

@Suite struct CommandTests {
  @Test("a command gets its input and its variables, and only three descriptors")
  func input() async throws {
    let directory = try TemporaryDirectory()
    let out = directory.path("out")
    let held = open("/dev/null", O_RDONLY)
    defer { close(held) }
    let command = Command(arguments: [
      "/bin/sh", "-c", "cat > \"$0\"; echo $JOB >> \"$0\"; ls /proc/self/fd | tr '\\n' ' ' >> \"$0\"", out,
    ])
    #expect(await command.run(input: "{}\n", environment: ["JOB": "a b"], timeout: .seconds(120)) == .exited(0))
    // Descriptor 3 is the directory that ls reads.
    #expect(try String(contentsOfFile: out, encoding: .utf8) == "{}\na b\n0 1 2 3 ")
  }

  @Test("the end of a command is reported")
  func ends() async {
    #expect(
      await Command(arguments: ["/bin/sh", "-c", "exit 7"]).run(input: "", environment: [:], timeout: .seconds(120))
        == .exited(7))
    #expect(
      await Command(arguments: ["/bin/true"]).run(
        input: String(repeating: "x", count: 1 << 20), environment: [:], timeout: .seconds(120)) == .exited(0))
    guard
      case .notStarted = await Command(arguments: ["/nonexistent"]).run(
        input: "", environment: [:], timeout: .seconds(120))
    else {
      Issue.record("it was started")
      return
    }
  }

  @Test("at the timeout a command is killed with all its children, even if it ignores SIGTERM")
  func timeout() async throws {
    let directory = try TemporaryDirectory()
    let fifo = directory.path("held")
    try #require(mkfifo(fifo, 0o600) == 0)
    let reading = open(fifo, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    try #require(reading >= 0)
    defer { close(reading) }
    let command = Command(arguments: [
      "/bin/sh", "-c", "trap '' TERM; exec 3> \"$0\"; sleep 1000 & echo started >&3; wait; wait", fifo,
    ])
    // On a busy machine the first timeout may expire before the shell has started.
    var text = ""
    for timeout in [Duration.milliseconds(300), .seconds(5), .seconds(60)] where text.isEmpty {
      #expect(await command.run(input: "", environment: [:], timeout: timeout) == .timedOut)
      text = try untilClosed(reading)
    }
    #expect(text == "started\n")
  }

  /// The text written to a FIFO, read until all writers have closed it. Killed processes close it shortly after their end is
  /// reported.
  private func untilClosed(_ reading: Int32) throws -> String {
    var text: [UInt8] = []
    while true {
      var ready = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
      // If no writer has opened it yet, there is nothing to wait for.
      let isReady = poll(&ready, 1, text.isEmpty ? 0 : 60_000) > 0
      if !isReady && text.isEmpty { return "" }
      try #require(isReady, "a process that the command started still has the file open")
      var bytes = [UInt8](repeating: 0, count: 64)
      let count = read(reading, &bytes, bytes.count)
      try #require(count >= 0)
      if count == 0 { return String(decoding: text, as: UTF8.self) }
      text += bytes.prefix(count)
    }
  }
}
