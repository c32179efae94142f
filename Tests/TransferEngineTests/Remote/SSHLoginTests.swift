import Foundation
import TestSupport
import Testing

@testable import TransferEngine

/// Logins without a key file: with an agent's keys, and with passwords.
@Suite(.timeLimit(.minutes(5))) struct SSHLoginTests {
  static let payload = Payload(size: 300_000, seed: 5)

  /// The environment names the agent, so the download runs in a child process with its own environment.
  @Test("a key of the SSH agent allows the login; an agent without keys does not")
  func agent() async throws {
    let server = try await SSHServer()
    try Self.payload.write(to: server.root + "/a.iso")
    let home = try TemporaryDirectory()
    try home.directory(".ssh")
    try FileManager.default.copyItem(atPath: server.knownHosts, toPath: home.path(".ssh/known_hosts"))
    let socket = home.path("agent")
    let agent = try ChildProcess(Launch(BuiltPrograms.system("ssh-agent"), ["-D", "-a", socket]))
    defer { agent.kill(SIGTERM) }
    try await agent.waitForOutput("SSH_AUTH_SOCK")
    let environment = Launch.cleanEnvironment.merging(["HOME": home.path, "SSH_AUTH_SOCK": socket]) { _, new in new }
    let download = try Launch.engineBench(
      ["download", server.url("sftp", server.root + "/a.iso"), home.path("a.iso")],
      environment: environment)
    let stranger = try await download.run()
    #expect(stranger.status == 1)
    #expect(stranger.stderr.contains("login"), "\(stranger.stderr)")
    #expect(try home.names() == [".ssh", "agent"])
    try await Launch(BuiltPrograms.system("ssh-add"), ["-q", server.privateKey], environment: environment)
      .runSuccessfully()
    try await download.runSuccessfully()
    #expect(try sha256(ofFile: home.path("a.iso")) == Self.payload.sha256)
  }

  /// The session closes its connections when the process ends, while exit(3) cleans up OpenSSL. One process in six
  /// crashed with SIGSEGV, although its file was complete.
  @Test("the transfer loop's thread does not crash a process that exits after its last transfer")
  func endOfProcess() async throws {
    let server = try await SSHServer()
    try Self.payload.write(to: server.root + "/a.iso")
    let home = try TemporaryDirectory()
    try home.directory(".ssh")
    try FileManager.default.copyItem(atPath: server.knownHosts, toPath: home.path(".ssh/known_hosts"))
    try FileManager.default.copyItem(atPath: server.privateKey, toPath: home.path(".ssh/id_ed25519"))
    let download = try Launch.engineBench(
      ["download", server.url("sftp", server.root + "/a.iso"), home.path("a.iso")],
      environment: Launch.cleanEnvironment.merging(["HOME": home.path]) { _, new in new })
    for _ in 0..<20 { try await download.runSuccessfully() }
  }

  private func download(
    _ peer: PythonPeer, password: String
  ) async throws -> (response: FileResponse, fixture: DownloadFixture) {
    let key = try String(contentsOfFile: peer.directory.path("host.pub"), encoding: .utf8)
    let known = try peer.directory.file("known_hosts", text: "[127.0.0.1]:\(peer.port) \(key)")
    var configuration = SessionConfiguration()
    configuration.ssh = SSHConfiguration(
      knownHostsFiles: [known], privateKeyFile: nil, usesAgent: false)
    let fixture = try DownloadFixture(Session(configuration: configuration), keeping: [peer])
    var request = try TransferRequest.to("sftp://127.0.0.1:\(peer.port)/a.iso")
    request.credentials = Credentials(username: "user", password: password)
    return (try await fixture.download(request).response(), fixture)
  }

  @Test(
    "the right password allows the login with each method; a wrong one does not and is not shown",
    arguments: SSHPasswordMethod.allCases)
  func password(_ way: SSHPasswordMethod) async throws {
    let peer = try await PythonPeer.sftp(password: "open sesame", by: way)
    try Self.payload.write(to: peer.directory.path("files/a.iso"))
    let right = try await download(peer, password: "open sesame")
    #expect(right.response.error == nil, "\(String(describing: right.response.error)) \(peer.log)")
    try right.fixture.expectOnly(Self.payload)
    let wrong = try await download(peer, password: "hunter2")
    guard case .remote(.loginDenied)? = wrong.response.error else {
      Issue.record("\(String(describing: wrong.response.error))")
      return
    }
    #expect(wrong.response.error?.isTransient == false)
    #expect(!"\(wrong.response.error!) \(wrong.response)".contains("hunter2"))
    #expect(try wrong.fixture.names() == [])
  }

  @Test("a request with usesAmbientCredentials set to false does not use the process's keys")
  func noKeys() async throws {
    let server = try await SSHServer()
    try Self.payload.write(to: server.root + "/a.iso")
    for password in [nil, "", "wrong"] as [String?] {
      let fixture = try DownloadFixture.ssh(server)
      var request = try TransferRequest.to(server.url("sftp", server.root + "/a.iso"))
      // The same request logs in with the key.
      _ = try await fixture.download(request).response().result.get()
      try FileManager.default.removeItem(atPath: fixture.path)
      request.usesAmbientCredentials = false
      let user = request.credentials?.username ?? NSUserName()
      request.credentials = password.map { Credentials(username: user, password: $0) }
      let response = try await fixture.download(request).response()
      guard case .remote(.loginDenied)? = response.error else {
        Issue.record("\(String(describing: response.error))")
        continue
      }
      #expect(try fixture.names() == [])
    }
  }
}
