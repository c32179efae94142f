import Foundation
import Glibc
import TestSupport
import Testing

/// The environment of commands that the daemon starts.
@Suite("the environment of commands", .timeLimit(.minutes(5))) struct ChildEnvironmentTests {
  /// Variables of the daemon that no command must get.
  private static let secrets = [
    "AWS_ACCESS_KEY_ID": "leak-1", "AWS_SECRET_ACCESS_KEY": "leak-2", "AWS_SESSION_TOKEN": "leak-3",
    "API_TOKEN": "leak-4", "WATCHDOG_USEC": "600000000", "LISTEN_FDS": "0", "LISTEN_FDNAMES": "leak-5",
    "LD_AUDIT": "", "TRANSFERD_LOG_LEVEL": "info", "CREDENTIALS_DIRECTORY": "/leak-6",
  ]

  /// A script that writes its environment to a file and then runs `rest`.
  private static func script(_ name: String, in directory: TemporaryDirectory, then rest: String = "") throws -> String
  {
    try directory.file(
      name + ".sh",
      text:
        "env > \(directory.path)/\(name).part\nmv \(directory.path)/\(name).part \(directory.path)/\(name)\n\(rest)\n")
  }

  private static func environment(_ name: String, in directory: TemporaryDirectory) throws -> [String: String] {
    let text = try String(contentsOfFile: directory.path(name), encoding: .utf8)
    return text.split(separator: "\n").reduce(into: [:]) { variables, line in
      let pair = line.split(separator: "=", maxSplits: 1).map(String.init)
      variables[pair[0]] = pair.count > 1 ? pair[1] : ""
    }
  }

  @Test(
    "it has the variables that programs need and those that the configuration names, and no others",
    arguments: [false, true])
  func minimal(isPassing: Bool) async throws {
    let directory = try TemporaryDirectory()
    let hook = try Self.script("hook", in: directory)
    let secret = try Self.script("secret", in: directory, then: "echo token")
    let process = try Self.script(
      "process", in: directory, then: "echo '{\"Version\":1,\"AccessKeyId\":\"C1\",\"SecretAccessKey\":\"cs\"}'")
    let passed = isPassing ? "  passEnvironment: [GNUPGHOME, MISSING]\n" : ""
    let daemon = try await Daemon(
      environment: Self.secrets.merging(["GNUPGHOME": "/gnupg", "LC_TIME": "de_DE.UTF-8", "TMPDIR": "/var/tmp"]) { $1 },
      config: "transferd:\n\(passed)  hooks:\n    onComplete: [/bin/sh, \(hook)]\n")
    try daemon.directory.directory("home/.aws")
    try daemon.directory.file("home/.aws/config", text: "[profile minted]\ncredential_process = /bin/sh \(process)\n")
    let s3 = try ScriptedS3 { _, _, _ in nil }
    let path = try daemon.source("a", Payload(size: 10))
    let uploaded = try await daemon.run([
      "upload", path, "--to", "s3://bucket/a", "--endpoint", s3.server.url(""), "--profile", "minted", "--wait",
    ])
    #expect(uploaded.status == 0, "\(uploaded.stderr)")
    try await daemon.waitForHistory("hook onComplete: exit 0", of: "1")
    let server = try LoopbackServer { _ in .response(201) }
    let tokened = try await daemon.run([
      "upload", path, "--to", server.url("/a"), "--protocol", "plain", "--wait", "--secret-header",
      "Authorization: Bearer exec:/bin/sh \(secret)",
    ])
    #expect(tokened.status == 0, "\(tokened.stderr)")
    #expect(server.requests.first?.headers["Authorization"] == "Bearer token")

    var standard: Set = [
      "HOME", "LANG", "LANGUAGE", "LC_ALL", "LC_TIME", "LOGNAME", "PATH", "TMPDIR", "TZ", "USER", "XDG_RUNTIME_DIR",
      // The shell's own variables.
      "PWD", "OLDPWD", "SHLVL", "_",
    ]
    if isPassing { standard.insert("GNUPGHOME") }
    for name in ["hook", "secret", "process"] {
      let found = try Self.environment(name, in: directory)
      let allowed =
        name == "hook" ? standard.union(["TRANSFERD_JOB", "TRANSFERD_STATE", "TRANSFERD_RESULT"]) : standard
      #expect(Set(found.keys).subtracting(allowed) == [], "\(name)")
      #expect(found["HOME"] == daemon.directory.path("home") && found["LC_TIME"] == "de_DE.UTF-8", "\(name): \(found)")
      #expect(found["PATH"]?.isEmpty == false && found["TMPDIR"] == "/var/tmp" && found["XDG_RUNTIME_DIR"] != nil)
      #expect(found["GNUPGHOME"] == (isPassing ? "/gnupg" : nil), "\(name)")
    }
    #expect(try Self.environment("hook", in: directory)["TRANSFERD_STATE"] == "completed")
  }

  @Test("a reload of the configuration changes it")
  func reload() async throws {
    let directory = try TemporaryDirectory()
    let hook = try Self.script("hook", in: directory)
    let text = "transferd:\n  hooks:\n    onComplete: [/bin/sh, \(hook)]\n"
    let daemon = try await Daemon(environment: ["GNUPGHOME": "/gnupg"], config: text)
    try daemon.directory.file("config.yaml", text: text + "  passEnvironment: [GNUPGHOME]\n")
    #expect(try await daemon.ctl("daemon", "reload").status == 0)
    let server = try LoopbackServer(.file(size: 10))
    let id = try await daemon.add(server.url("/a"), "-o", "a")
    try await daemon.waitForHistory("hook onComplete: exit 0", of: id)
    #expect(try Self.environment("hook", in: directory)["GNUPGHOME"] == "/gnupg")
  }

  /// Only root can read a daemon's /proc/PID/environ (PR_SET_DUMPABLE).
  @Test(
    "a daemon that transferctl starts inside a service gets no variables of that service",
    .enabled(if: geteuid() == 0))
  func autostart() async throws {
    let user = try FreshUser()
    let result = try await user.ctl(
      "daemon", "start",
      environment: [
        "NOTIFY_SOCKET": "/nonexistent/notify", "WATCHDOG_USEC": "1000000", "LISTEN_FDS": "1", "AWS_PROFILE": "p",
      ])
    #expect(result.status == 0, "\(result.stderr)")
    let pid = try #require(user.daemonPID)
    let environment = try Data(contentsOf: URL(fileURLWithPath: "/proc/\(pid)/environ")).split(separator: 0)
      .map { String(decoding: $0.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self) }
    // It keeps the user's cloud keys, which exist nowhere else.
    #expect(environment.contains("AWS_PROFILE"))
    #expect(!environment.contains { $0 == "NOTIFY_SOCKET" || $0.hasPrefix("WATCHDOG_") || $0.hasPrefix("LISTEN_") })
  }
}
