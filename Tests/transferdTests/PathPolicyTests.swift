import Foundation
import Glibc
import TestSupport
import Testing
import TransferEngine

@testable import transferd

@Suite struct PathPolicyTests {
  private static let daemon: UInt32 = 500
  private static let member: UInt32 = 1000

  private func policy(_ directory: TemporaryDirectory, roots: MemberRoots = MemberRoots()) throws -> PathPolicy {
    for name in ["state", "run/transferd", "home/.ssh", "srv/in", "srv/out"] { try directory.directory(name) }
    try directory.file("etc/transferd.yaml", text: "")
    return PathPolicy(
      daemon: Self.daemon, state: directory.path("state"), socket: directory.path("run/transferd/transferd.sock"),
      runtimeDirectory: directory.path("run/transferd"), homes: [directory.path("home")],
      files: [directory.path("etc/transferd.yaml")], roots: roots)
  }

  private func isAllowed(_ path: String, _ rules: PathRules) -> Bool {
    let (parent, name) = (path.parentPath, String(path.baseName))
    return (try? rules.checkDestination(parent, name: name)) != nil
  }

  @Test("a member is neither the daemon's user nor root")
  func members() throws {
    let policy = try policy(try TemporaryDirectory())
    #expect([0, Self.daemon, Self.member].map { policy.mayUseServiceCredentials($0) } == [true, true, false])
  }

  @Test(
    "transferd's own files are forbidden to all users, and the home and configured files to members",
    arguments: [
      ("state/transferd.db", [false, false]), ("state/spool/x", [false, false]), ("run/transferd/x", [false, false]),
      ("run/x", [true, true]), ("home/.ssh/known_hosts", [true, false]), ("home/.aws/config", [true, false]),
      ("home/x", [true, false]), ("etc/transferd.yaml", [true, false]), ("etc/other.yaml", [true, true]),
      ("srv/in/x", [true, true]),
    ])
  func closed(_ name: String, _ expected: [Bool]) throws {
    let directory = try TemporaryDirectory()
    let roots = MemberRoots(read: [directory.path], write: [directory.path])
    let policy = try policy(directory, roots: roots)
    for access in [PathPolicy.Access.read, .write] {
      let owners = [0, Self.daemon].map { isAllowed(directory.path(name), policy.rules(for: $0, access)) }
      #expect(owners == [expected[0], expected[0]])
      #expect(isAllowed(directory.path(name), policy.rules(for: Self.member, access)) == expected[1])
    }
  }

  @Test("files that a changed configuration names are closed to members from then on")
  func reload() throws {
    let directory = try TemporaryDirectory()
    let roots = MemberRoots(read: [directory.path], write: [directory.path])
    let policy = try policy(directory, roots: roots)
    policy.set(roots, files: [directory.path("srv/in/hook")])
    for (name, expected) in [("srv/in/hook", false), ("srv/in/x", true), ("etc/transferd.yaml", true)] {
      #expect(isAllowed(directory.path(name), policy.rules(for: Self.member, .write)) == expected, "\(name)")
    }
    #expect(isAllowed(directory.path("srv/in/hook"), policy.rules(for: Self.daemon, .write)))
  }

  @Test("members may use only their roots, of which there are none by default; others have no roots")
  func roots() throws {
    let directory = try TemporaryDirectory()
    let policy = try policy(directory)
    let (inside, outside) = (directory.path("srv/in/x"), directory.path("srv/out/x"))
    for access in [PathPolicy.Access.read, .write] {
      #expect(!isAllowed(inside, policy.rules(for: Self.member, access)))
      #expect(isAllowed(inside, policy.rules(for: Self.daemon, access)))
    }
    policy.set(MemberRoots(read: [directory.path("srv/in")], write: [directory.path("srv/out")]), files: [])
    #expect(isAllowed(inside, policy.rules(for: Self.member, .read)))
    #expect(!isAllowed(outside, policy.rules(for: Self.member, .read)))
    #expect(!isAllowed(inside, policy.rules(for: Self.member, .write)))
    #expect(isAllowed(outside, policy.rules(for: Self.member, .write)))
  }

  @Test("an error names the configuration key and its directories")
  func refusal() throws {
    let directory = try TemporaryDirectory()
    let policy = try policy(directory)
    #expect(policy.rules(for: Self.member, .read).outsideReason.contains("memberReadRoots; none is configured"))
    policy.set(MemberRoots(write: ["/srv/a", "/srv/b"]), files: [])
    #expect(policy.rules(for: Self.member, .write).outsideReason.hasSuffix("memberWriteRoots; they are /srv/a, /srv/b"))
  }

  @Test(
    "a runtime directory belongs to transferd by its path, or because systemd created it",
    arguments: [
      ("/run/user/7/transferd/transferd.sock", [:], true), ("/run/transferd/transferd.sock", [:], true),
      ("/run/user/7/transferd.sock", [:], false), ("/run/user/8/transferd/s", [:], false), ("/tmp/s", [:], false),
      ("/home/a/transferd/s", [:], false), ("/x/run/transferd/s", ["XDG_RUNTIME_DIR": "/x/run/"], true),
      ("/x/run/s", ["XDG_RUNTIME_DIR": "/x/run"], false), ("/run/other/s", ["RUNTIME_DIRECTORY": "/run/other"], true),
      ("/run/other/s", ["RUNTIME_DIRECTORY": "/run/a:/run/other"], true),
      ("/run/other/deep/s", ["RUNTIME_DIRECTORY": "/run/other"], false),
    ] as [(String, [String: String], Bool)])
  func runtimeDirectory(_ socket: String, _ environment: [String: String], _ isOwn: Bool) {
    let directory = PathPolicy.runtimeDirectory(of: socket, environment: environment, uid: 7)
    #expect(directory == (isOwn ? socket.parentPath : nil))
  }

  @Test("in a shared directory only the socket is protected")
  func sharedRuntimeDirectory() throws {
    let directory = try TemporaryDirectory()
    try directory.directory("run")
    let policy = PathPolicy(
      daemon: Self.daemon, state: directory.path("state"), socket: directory.path("run/s"), runtimeDirectory: nil)
    let rules = policy.rules(for: Self.daemon, .write)
    #expect(!isAllowed(directory.path("run/s"), rules))
    #expect(isAllowed(directory.path("run/s2"), rules))
  }

  @Test("a spooled file is read only from its own directory in the spool")
  func spool() throws {
    let directory = try TemporaryDirectory()
    for name in ["a", "b"] { try directory.file("state/spool/\(name)/file", text: "x") }
    let rules = PathPolicy.spoolRules(directory.path("state/spool/a"))
    try rules.checkSource(directory.path("state/spool/a/file"))
    #expect(throws: TransferError.self) { try rules.checkSource(directory.path("state/spool/b/file")) }
  }
}

@Suite struct FormerHomeTests {
  private func adopt(
    _ files: Set<String>, home: String = "/h", userHome: String? = "/u", environment: [String: String] = [:],
    _ ssh: SSHConfiguration = SSHConfiguration()
  ) -> (SSHConfiguration, used: [String]) {
    var ssh = ssh
    let former = FormerHome(home: home, state: "/state", userHome: userHome, environment: environment)
    let used = former.adopt(into: &ssh) { files.contains($0) }
    return (ssh, used)
  }

  @Test("known hosts in the state directory are read after those in the home, and new hosts are written to the home")
  func knownHosts() {
    let (ssh, used) = adopt(["/state/.ssh/known_hosts", "/h/.ssh/known_hosts"])
    #expect(ssh.knownHostsFiles == ["/h/.ssh/known_hosts", "/state/.ssh/known_hosts", "/etc/ssh/ssh_known_hosts"])
    #expect(used == ["/state/.ssh/known_hosts"])
  }

  @Test("a key in the state directory is used until the home has one")
  func keys() {
    let files: Set = ["/state/.ssh/id_rsa", "/state/.ssh/id_ecdsa"]
    let former = adopt(files)
    #expect(former.0.privateKeyFile == "/state/.ssh/id_ecdsa" && former.used == ["/state/.ssh/id_ecdsa"])
    let present = adopt(files.union(["/h/.ssh/id_rsa"]))
    #expect(present.0.privateKeyFile == nil && present.used.isEmpty)
  }

  @Test("configured files take precedence, and without former files nothing changes")
  func untouched() {
    let configured = SSHConfiguration(knownHostsFiles: ["/k"], privateKeyFile: "/p")
    let files: Set = ["/state/.ssh/known_hosts", "/state/.ssh/id_rsa"]
    #expect(adopt(files, configured) == (configured, []))
    #expect(adopt([]) == (SSHConfiguration(), []))
    // The home is still the state directory.
    #expect(adopt(files, home: "/state") == (SSHConfiguration(), []))
  }

  @Test("the home in the user database is used only under the unit, not with another HOME")
  func userHome() {
    let files: Set = ["/u/.ssh/known_hosts"]
    #expect(adopt(files).used.isEmpty)
    #expect(adopt(files, environment: ["STATE_DIRECTORY": "/state:/h"]).used == ["/u/.ssh/known_hosts"])
    #expect(adopt(files, environment: ["STATE_DIRECTORY": "/state"]).used.isEmpty)
    #expect(adopt(files, home: "/u", environment: ["STATE_DIRECTORY": "/state:/u"]).used.isEmpty)
  }
}
