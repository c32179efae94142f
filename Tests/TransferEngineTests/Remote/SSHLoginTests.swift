import Foundation
import TestSupport
import Testing

@testable import TransferEngine

/// Who has no key file: an agent's keys, and passwords.
@Suite(.timeLimit(.minutes(5))) struct SSHLoginTests {
  static let payload = Payload(size: 300_000, seed: 5)

  /// The agent is found by the environment, which is a process's own: the program that downloads is a child.
  @Test("an agent's key lets in; an agent without keys does not")
  func agent() async throws {
    let server = try await SSHServer()
    try Self.payload.write(to: server.root + "/a.iso")
    let room = try TemporaryDirectory()
    try room.directory(".ssh")
    try FileManager.default.copyItem(atPath: server.knownHosts, toPath: room.path(".ssh/known_hosts"))
    let socket = room.path("agent")
    let agent = try ChildProcess(Launch(BuiltPrograms.system("ssh-agent"), ["-D", "-a", socket]))
    defer { agent.kill(SIGTERM) }
    try await agent.waitForOutput("SSH_AUTH_SOCK")
    let environment = Launch.cleanEnvironment.merging(["HOME": room.path, "SSH_AUTH_SOCK": socket]) { _, new in new }
    let download = try Launch.engineBench(
      ["download", server.url("sftp", server.root + "/a.iso"), room.path("a.iso")],
      environment: environment)
    let stranger = try await download.run()
    #expect(stranger.status == 1)
    #expect(stranger.stderr.contains("login"), "\(stranger.stderr)")
    #expect(try room.names() == [".ssh", "agent"])
    try await Launch(BuiltPrograms.system("ssh-add"), ["-q", server.privateKey], environment: environment)
      .runSuccessfully()
    try await download.runSuccessfully()
    #expect(try sha256(ofFile: room.path("a.iso")) == Self.payload.sha256)
  }

  /// The session goes when the program ends, and says goodbye on its connections while exit(3) takes OpenSSL down: one in six
  /// ended with SIGSEGV, its file whole.
  @Test("a program that ends with its last transfer ends well")
  func endOfProcess() async throws {
    let server = try await SSHServer()
    try Self.payload.write(to: server.root + "/a.iso")
    let room = try TemporaryDirectory()
    try room.directory(".ssh")
    try FileManager.default.copyItem(atPath: server.knownHosts, toPath: room.path(".ssh/known_hosts"))
    try FileManager.default.copyItem(atPath: server.privateKey, toPath: room.path(".ssh/id_ed25519"))
    let download = try Launch.engineBench(
      ["download", server.url("sftp", server.root + "/a.iso"), room.path("a.iso")],
      environment: Launch.cleanEnvironment.merging(["HOME": room.path]) { _, new in new })
    for _ in 0..<20 { try await download.runSuccessfully() }
  }

  private func download(
    _ peer: PythonPeer, password: String
  ) async throws -> (response: FileResponse, room: DownloadRoom) {
    let key = try String(contentsOfFile: peer.directory.path("host.pub"), encoding: .utf8)
    let known = try peer.directory.file("known_hosts", text: "[127.0.0.1]:\(peer.port) \(key)")
    var configuration = SessionConfiguration()
    configuration.ssh = SSHConfiguration(
      knownHostsFiles: [known], privateKeyFile: nil, usesAgent: false)
    let room = try DownloadRoom(Session(configuration: configuration), keeping: [peer])
    var request = try TransferRequest.to("sftp://127.0.0.1:\(peer.port)/a.iso")
    request.credentials = Credentials(username: "user", password: password)
    return (try await room.download(request).response(), room)
  }

  @Test(
    "a password lets in, asked for in either way; a wrong one does not, and is shown nowhere",
    arguments: SSHPasswordMethod.allCases)
  func password(_ way: SSHPasswordMethod) async throws {
    let peer = try await PythonPeer.sftp(password: "open sesame", by: way)
    try Self.payload.write(to: peer.directory.path("files/a.iso"))
    let right = try await download(peer, password: "open sesame")
    #expect(right.response.error == nil, "\(String(describing: right.response.error)) \(peer.log)")
    try right.room.expectOnly(Self.payload)
    let wrong = try await download(peer, password: "hunter2")
    guard case .remote(.loginDenied)? = wrong.response.error else {
      Issue.record("\(String(describing: wrong.response.error))")
      return
    }
    #expect(wrong.response.error?.isTransient == false)
    #expect(!"\(wrong.response.error!) \(wrong.response)".contains("hunter2"))
    #expect(try wrong.room.names() == [])
  }

  @Test("a request that may not use the process's keys is not let in by them, and asks for a password")
  func noKeys() async throws {
    let server = try await SSHServer()
    try Self.payload.write(to: server.root + "/a.iso")
    for password in [nil, "", "wrong"] as [String?] {
      let room = try DownloadRoom.ssh(server)
      var request = try TransferRequest.to(server.url("sftp", server.root + "/a.iso"))
      // By the key, the same request is let in.
      _ = try await room.download(request).response().result.get()
      try FileManager.default.removeItem(atPath: room.path)
      request.usesAmbientCredentials = false
      let user = request.credentials?.username ?? NSUserName()
      request.credentials = password.map { Credentials(username: user, password: $0) }
      let response = try await room.download(request).response()
      guard case .remote(.loginDenied)? = response.error else {
        Issue.record("\(String(describing: response.error))")
        continue
      }
      #expect(try room.names() == [])
    }
  }
}
