import Foundation
import TestSupport
import Testing

/// packaging/: what systemd says of our units without running them.
@Suite("the systemd units") struct UnitFileTests {
  static let packaging = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("packaging").path

  /// A copy whose program is there: systemd looks.
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

  @Test("hold no mistake", arguments: ["system", "user"])
  func verify(_ manager: String) async throws {
    let directory = try TemporaryDirectory()
    defer { directory.remove() }
    let unit = try unit("\(manager)/transferd.service", in: directory)
    let result = try await analyze("verify", "--\(manager)", "--man=no", unit)
    // Units of the machine itself may be at fault; ours may not.
    let own = (result.stdout + result.stderr).split(separator: "\n").filter { $0.contains("transferd") }
    #expect(own.isEmpty, "\(own.joined(separator: "\n"))")
  }

  /// Directives that a user's manager ignores, or that keep the unit from starting (packaging/user/transferd.service).
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

  @Test("a user's unit claims nothing that a user's manager does not enforce", arguments: systemOnly)
  func enforced(_ name: String) throws {
    #expect(try directives("user/transferd.service")[name[...]] == nil)
  }

  @Test(
    "bound memory and tasks, restart after a crash, and stay stopped after an orderly end",
    arguments: ["system", "user"])
  func restart(_ manager: String) throws {
    let directives = try directives("\(manager)/transferd.service")
    #expect(directives["MemoryMax"] == ["1G"])
    #expect(directives["TasksMax"] == ["1024"])
    #expect(directives["Restart"] == ["on-failure"])
    #expect(directives["LimitCORE"] == ["0"])
  }

  @Test("the system's shows the daemon the uids of its clients, and lets it execute only itself and its libraries")
  func systemUnit() throws {
    let directives = try directives("system/transferd.service")
    #expect(directives["PrivateUsers"] == nil)
    #expect(directives["NoExecPaths"] == ["/"])
    #expect(directives["ExecPaths"] == ["/usr/local/bin/transferd -/usr/lib -/usr/lib64 -/lib -/lib64"])
    #expect(directives["IPAddressDeny"] == ["link-local"])
    // Keys and profiles are not in the directory that downloads could once be written to.
    #expect(directives["StateDirectory"] == ["transferd transferd-home"])
    #expect(directives["Environment"]?.contains("HOME=/var/lib/transferd-home") == true)
    let users = try String(contentsOfFile: "\(Self.packaging)/transferd.sysusers", encoding: .utf8)
    #expect(users.contains("/var/lib/transferd-home\n"))
  }

  @Test("the system's leaves next to nothing open: an exposure of 1.5 at most")
  func security() async throws {
    let directory = try TemporaryDirectory()
    defer { directory.remove() }
    let unit = try unit("system/transferd.service", in: directory)
    let result = try await analyze("security", "--offline=true", "--threshold=15", "--no-pager", unit)
    #expect(result.status == 0, "\(result.stdout.suffix(600))\(result.stderr)")
  }

  @Test("what may be written to and called in them exists: the options of the program they start")
  func options() async throws {
    let help = try await Launch(BuiltPrograms.path("transferd"), ["--help"]).run().stdout
    for manager in ["system", "user"] {
      let text = try String(contentsOfFile: "\(Self.packaging)/\(manager)/transferd.service", encoding: .utf8)
      let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("ExecStart=/") })
      for word in line.split(separator: " ") where word.hasPrefix("--") { #expect(help.contains(word), "\(word)") }
    }
  }
}
