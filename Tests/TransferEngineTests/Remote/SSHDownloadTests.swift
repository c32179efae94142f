import Foundation
import TestSupport
import Testing

@testable import TransferEngine

@Suite(.timeLimit(.minutes(5))) struct SSHDownloadTests {
  static let payload = Payload(size: 6 << 20, seed: 11)
  /// The bytes that can be lost when a connection breaks: libssh2 requests four buffers (1 MiB) in advance and discards
  /// the bytes that it has read.
  static let slack: Int64 = 2 << 20

  private func serve(_ payload: Payload = payload) async throws -> (server: SSHServer, fixture: DownloadFixture) {
    let server = try await SSHServer()
    try payload.write(to: server.root + "/a.iso")
    return (server, try .ssh(server))
  }

  @Test("a file arrives complete", arguments: ["sftp", "scp"], [0, 1, 6 << 20] as [Int64])
  func whole(_ scheme: String, _ size: Int64) async throws {
    let payload = Payload(size: size, seed: 3)
    let (server, fixture) = try await serve(payload)
    let response = try await fixture.download(.to(server.url(scheme, server.root + "/a.iso"))).response()
    #expect(response.error == nil)
    #expect(response.totalBytes == size)
    #expect(response.verification == .length)
    try fixture.expectOnly(payload)
  }

  @Test("a broken connection is resumed, and few bytes are requested again", arguments: [2_500_000, 4 << 20, 5 << 20])
  func resume(_ cut: Int64) async throws {
    let (server, fixture) = try await serve()
    let proxy = try DroppingProxy(to: server.port) { $0 == 0 ? .init(cutAfterSent: cut) : .pass }
    try fixture.trust(proxy.port, server)
    let request = try TransferRequest.to(server.url("sftp", server.root + "/a.iso", port: proxy.port))
    let first = try await fixture.download(request).response()
    #expect(first.error?.isTransient == true)
    let data = try #require(first.resumeData)
    #expect(first.bytesOnDisk > cut - Self.slack)
    try fixture.expectPart(data, holds: first.bytesOnDisk, of: Self.payload)
    let second = try await fixture.download(
      request, session: Session(configuration: fixture.session.configuration), resumingWith: data.encoded()
    ).response()
    #expect(second.error == nil)
    #expect(second.resumedFrom == first.bytesOnDisk)
    #expect(
      second.bytesReceived
        == Self.payload.size - first.bytesOnDisk + min(first.bytesOnDisk, RangeStrategies.overlapBytes))
    try fixture.expectOnly(Self.payload)
    let again = proxy.connections.value.reduce(0) { $0 + $1.sent } - Self.payload.size
    #expect(again <= RangeStrategies.overlapBytes + Self.slack)
  }

  @Test("a retry continues where the connection broke; SCP starts over", arguments: ["sftp", "scp"])
  func retry(_ scheme: String) async throws {
    let (server, fixture) = try await serve()
    let proxy = try DroppingProxy(to: server.port) { $0 < 2 ? .init(cutAfterSent: 2 << 20) : .pass }
    try fixture.trust(proxy.port, server)
    let request = try TransferRequest.to(server.url(scheme, server.root + "/a.iso", port: proxy.port))
    let response = try await fixture.download(request, interceptor: .atOnce(5)).response()
    #expect(response.error == nil)
    #expect((response.resumedFrom > 0) == (scheme == "sftp"))
    try fixture.expectOnly(Self.payload)
    #expect(proxy.connections.value.count == 3)
  }

  @Test("a file that changed is fetched again, and versions are never mixed", arguments: ["size", "time", "content"])
  func changed(_ what: String) async throws {
    let (server, fixture) = try await serve()
    let path = server.root + "/a.iso"
    setModificationTime(path, 1_700_000_000)
    let proxy = try DroppingProxy(to: server.port) { $0 == 0 ? .init(cutAfterSent: 4 << 20) : .pass }
    try fixture.trust(proxy.port, server)
    let request = try TransferRequest.to(server.url("sftp", path, port: proxy.port))
    let first = try await fixture.download(request).response()
    let data = try #require(first.resumeData)
    switch what {
    case "size": try Payload(size: Self.payload.size + 1, seed: 9).write(to: path)
    case "time": try Payload(size: Self.payload.size, seed: 9).write(to: path)
    default: try spoil(path, at: first.bytesOnDisk - 1000, keepingTime: 1_700_000_000)
    }
    if what == "size" { setModificationTime(path, 1_700_000_000) }
    let recorder = EventRecorder()
    let session = Session(configuration: fixture.session.configuration, eventMonitors: [recorder])
    let second = try await fixture.download(request, session: session, resumingWith: data.encoded()).response()
    #expect(second.error == nil)
    #expect(second.resumedFrom == 0)
    #expect(recorder.refusals.count == 1)
    #expect(try fixture.names() == [DownloadFixture.name])
    #expect(try sha256(ofFile: fixture.path) == sha256(ofFile: path))
  }

  @Test("a silent server causes a stall error and does not block other downloads")
  func silent() async throws {
    let (server, fixture) = try await serve()
    let proxy = try DroppingProxy(to: server.port) { $0 == 0 ? .init(cutAfterSent: 2 << 20, isSilent: true) : .pass }
    try fixture.trust(proxy.port, server)
    let request = try TransferRequest.to(
      server.url("sftp", server.root + "/a.iso", port: proxy.port), stallTimeout: .seconds(2))
    let stalled = try fixture.download(request).resume()
    let other = try DownloadFixture(fixture.session)
    #expect(try await other.download(.to(server.url("sftp", server.root + "/a.iso"))).response().error == nil)
    let response = await stalled.response()
    guard case .connection(.stalled)? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
    var patient = request
    patient.stallTimeout = .seconds(60)
    #expect(try await fixture.download(patient, resumingWith: response.resumeData?.encoded()).response().error == nil)
    try fixture.expectOnly(Self.payload)
  }

  @Test("a missing file and a directory have different errors", arguments: ["sftp", "scp"])
  func refusals(_ scheme: String) async throws {
    let (server, fixture) = try await serve()
    let missing = try await fixture.download(.to(server.url(scheme, server.root + "/none"))).response()
    guard case .remote(.missing)? = missing.error else {
      Issue.record("\(String(describing: missing.error))")
      return
    }
    let listing = try await fixture.download(.to(server.url(scheme, server.root + "/"))).response()
    guard case .remote(.isDirectory)? = listing.error else {
      Issue.record("\(String(describing: listing.error))")
      return
    }
    let directory = try await fixture.download(.to(server.url(scheme, server.root))).response()
    #expect(directory.error?.isTransient == false, "\(String(describing: directory.error))")
    #expect(try fixture.names() == [])
  }

  @Test("an unknown key and a wrong password are permanent login errors")
  func denied() async throws {
    let (server, _) = try await serve()
    let url = server.url("sftp", server.root + "/a.iso")
    for key in [server.strangersKey, "/nonexistent/key"] {
      let fixture = try DownloadFixture.ssh(server) { $0.privateKeyFile = key }
      let response = try await fixture.download(.to(url)).response()
      guard case .remote(.loginDenied)? = response.error else {
        Issue.record("\(String(describing: response.error))")
        continue
      }
      #expect(response.error?.isTransient == false)
    }
    let fixture = try DownloadFixture.ssh(server) { $0.privateKeyFile = server.strangersKey }
    let response = try await fixture.download(
      .to(url.replacingOccurrences(of: "@127", with: ":hunter2@127"))
    ).response()
    guard case .remote(.loginDenied)? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
    #expect(!"\(response.error!)".contains("hunter2"))
  }

  @Test("an encrypted key works only with the right passphrase, and descriptions do not show the passphrase")
  func passphraseAndAgent() async throws {
    let (server, _) = try await serve()
    let directory = try TemporaryDirectory()
    let key = directory.path("locked")
    try FileManager.default.copyItem(atPath: server.privateKey, toPath: key)
    try await Launch(
      BuiltPrograms.system("ssh-keygen"), ["-q", "-p", "-N", "open sesame", "-P", "", "-f", key]
    ).runSuccessfully()
    let url = server.url("sftp", server.root + "/a.iso")
    for (passphrase, isRight) in [("open sesame", true), ("wrong", false)] {
      let fixture = try DownloadFixture.ssh(server) {
        $0.privateKeyFile = key
        $0.passphrase = passphrase
      }
      let response = try await fixture.download(.to(url)).response()
      #expect((response.error == nil) == isRight, "\(String(describing: response.error))")
      #expect(!"\(fixture.session.configuration.ssh)".contains(passphrase))
    }
  }

  @Test("the path /~/ means the home directory")
  func home() async throws {
    let (server, fixture) = try await serve()
    let name = "transfer-engine-test-\(UInt32.random(in: 0 ... .max))"
    let path = NSHomeDirectory() + "/" + name
    try Self.payload.write(to: path)
    defer { try? FileManager.default.removeItem(atPath: path) }
    let response = try await fixture.download(.to(server.url("sftp", "/~/" + name))).response()
    #expect(response.error == nil)
    try fixture.expectOnly(Self.payload)
  }

  @Test("a cancelled download can be resumed")
  func cancel() async throws {
    let (server, fixture) = try await serve()
    var request = try TransferRequest.to(server.url("sftp", server.root + "/a.iso"))
    request.limitRate = 256 << 10
    let download = try fixture.download(request)
    try await download.resumed(suspendedAfter: 512 << 10)
    let data = try #require(await download.cancelProducingResumeData())
    let kept = try #require(ResumeData(data)).checkpointBytes
    request.limitRate = nil
    let second = try await fixture.download(request, resumingWith: data).response()
    #expect(second.error == nil)
    #expect(second.resumedFrom == kept)
    try fixture.expectOnly(Self.payload)
  }
}

extension DownloadFixture {
  /// Adds the server's key under a proxy's port to the known hosts.
  func trust(_ port: UInt16, _ server: SSHServer) throws {
    let text = try String(contentsOfFile: server.knownHosts, encoding: .utf8)
    try (text + "[127.0.0.1]:\(port) \(server.hostKey())\n").write(
      toFile: server.knownHosts, atomically: true, encoding: .utf8)
  }
}
