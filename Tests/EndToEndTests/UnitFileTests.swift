import Foundation
import TestSupport
import Testing

/// Checks the units in packaging/ with systemd's tools, without running them.
@Suite("the systemd units") struct UnitFileTests {
  static let packaging = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("packaging").path

  /// A copy of the unit whose program exists, because systemd checks that.
  private func unit(_ path: String, in directory: TemporaryDirectory) throws -> String {
    let text = try String(contentsOfFile: "\(Self.packaging)/\(path)", encoding: .utf8)
    #expect(text.contains("\nExecStart=/usr/local/bin/transferd "))
    let program = try BuiltPrograms.path("transferd")
    return try directory.file(
      "transferd.service", text: text.replacingOccurrences(of: "/usr/local/bin/transferd", with: program))
  }

  private func analyze(_ arguments: String...) async throws -> ChildProcess.Result {
    try await Launch(BuiltPrograms.system("systemd-analyze"), arguments).run(timeout: .seconds(60))
  }

  @Test("systemd-analyze finds no mistake in the units", arguments: ["system", "user"])
  func verify(_ manager: String) async throws {
    let directory = try TemporaryDirectory()
    defer { directory.remove() }
    let unit = try unit("\(manager)/transferd.service", in: directory)
    let result = try await analyze("verify", "--\(manager)", "--man=no", unit)
    // Faults in other units of the machine do not matter.
    let own = (result.stdout + result.stderr).split(separator: "\n").filter { $0.contains("transferd") }
    #expect(own.isEmpty, "\(own.joined(separator: "\n"))")
  }

  /// Directives that a user manager ignores or that prevent the start (packaging/user/transferd.service).
  static let systemOnly = [
    "CapabilityBoundingSet", "DeviceAllow", "IPAddressDeny", "KeyringMode", "NoExecPaths", "PrivateDevices",
    "PrivateTmp",
    "PrivateUsers", "ProcSubset", "ProtectControlGroups", "ProtectHome", "ProtectProc", "ProtectSystem",
    "ReadOnlyPaths",
    "RemoveIPC", "SocketBindDeny",
  ]

  private func directives(_ path: String) throws -> [Substring: [Substring]] {
    let text = try String(contentsOfFile: "\(Self.packaging)/\(path)", encoding: .utf8)
    return text.split(separator: "\n").filter { !$0.hasPrefix("#") && $0.contains("=") }.reduce(into: [:]) {
      let parts = $1.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      $0[parts[0], default: []].append(parts[1])
    }
  }

  @Test("the user unit has no directive that a user manager does not enforce", arguments: systemOnly)
  func enforced(_ name: String) throws {
    #expect(try directives("user/transferd.service")[name[...]] == nil)
  }

  @Test(
    "the units limit memory and tasks, restart after a crash, and stay stopped after an orderly end",
    arguments: ["system", "user"])
  func restart(_ manager: String) throws {
    let directives = try directives("\(manager)/transferd.service")
    #expect(directives["MemoryMax"] == ["1G"])
    #expect(directives["TasksMax"] == ["1024"])
    #expect(directives["Restart"] == ["on-failure"])
    #expect(directives["LimitCORE"] == ["0"])
  }

  @Test("the system unit keeps the uids of clients visible, and allows to execute only the daemon and its libraries")
  func systemUnit() throws {
    let directives = try directives("system/transferd.service")
    #expect(directives["PrivateUsers"] == nil)
    #expect(directives["NoExecPaths"] == ["/"])
    #expect(directives["ExecPaths"] == ["/usr/local/bin/transferd -/usr/lib -/usr/lib64 -/lib -/lib64"])
    #expect(directives["IPAddressDeny"] == ["link-local"])
    // Keys and profiles are not in the directory in which downloads could once be written.
    #expect(directives["StateDirectory"] == ["transferd transferd-home"])
    #expect(directives["Environment"]?.contains("HOME=/var/lib/transferd-home") == true)
    let users = try String(contentsOfFile: "\(Self.packaging)/transferd.sysusers", encoding: .utf8)
    #expect(users.contains("/var/lib/transferd-home\n"))
  }

  @Test("the system unit has an exposure of at most 1.5 in systemd-analyze security")
  func security() async throws {
    let directory = try TemporaryDirectory()
    defer { directory.remove() }
    let unit = try unit("system/transferd.service", in: directory)
    let result = try await analyze("security", "--offline=true", "--threshold=15", "--no-pager", unit)
    #expect(result.status == 0, "\(result.stdout.suffix(600))\(result.stderr)")
  }

  @Test("the units use only options that the program has")
  func options() async throws {
    let help = try await Launch(BuiltPrograms.path("transferd"), ["--help"]).run().stdout
    for manager in ["system", "user"] {
      let text = try String(contentsOfFile: "\(Self.packaging)/\(manager)/transferd.service", encoding: .utf8)
      let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("ExecStart=/") })
      for word in line.split(separator: " ") where word.hasPrefix("--") { #expect(help.contains(word), "\(word)") }
    }
  }
}
