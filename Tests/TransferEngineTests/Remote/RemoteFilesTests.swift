import Foundation
import TestSupport
import Testing

@testable import TransferEngine

/// The file operations that uploads use, tested with real servers.
@Suite(.timeLimit(.minutes(5))) struct RemoteFilesTests {
  enum Peer: String, CaseIterable, Sendable { case ftp, ftpes, ftps, sftp }

  /// A server, a client for it, and a directory for sources.
  struct Fixture: Sendable {
    let files: RemoteFiles
    let root: String
    let base: String
    let directory: TemporaryDirectory
    let kept: any Sendable
    let ftp: FTPServer?

    func url(_ path: String) throws -> RequestURL { try RequestURL(base + path) }
    func source(_ payload: Payload) throws -> RequestBody {
      let path = directory.path("source-\(payload.name)")
      try payload.write(to: path)
      return .file(path: path)
    }
    func digest(_ name: String) throws -> String { try sha256(ofFile: root + "/" + name) }
  }

  static func fixture(_ peer: Peer, _ change: (inout FTPServer.Options) -> Void = { _ in }) async throws -> Fixture {
    let directory = try TemporaryDirectory()
    if peer == .sftp {
      let server = try await SSHServer()
      let base = server.url("sftp", server.root)
      let files = RemoteFiles(session: Session(configuration: .ssh(server)), request: try .to(base + "/"))
      return Fixture(files: files, root: server.root, base: base, directory: directory, kept: server, ftp: nil)
    }
    var options = FTPServer.Options()
    options.security = [.ftpes: .explicit, .ftps: .implicit][peer] ?? .plain
    change(&options)
    let certificates = peer == .ftp ? nil : try await TestCertificates()
    let server = try await FTPServer(options, certificates: certificates)
    let base = server.url("", scheme: peer.rawValue)
    let files = RemoteFiles(session: Session(configuration: .tls(certificates)), request: try .to(base + "/"))
    return Fixture(files: files, root: server.root, base: base, directory: directory, kept: server, ftp: server)
  }

  @Test("a file is sent completely", arguments: Peer.allCases, [0, 1, 5 << 20] as [Int64])
  func whole(_ peer: Peer, _ size: Int64) async throws {
    let fixture = try await Self.fixture(peer)
    let payload = Payload(size: size, seed: 4)
    let url = try fixture.url("/a%20b.bin")
    let sent = Watched<Int64>(0)
    try await fixture.files.upload(fixture.source(payload), to: url) { count in sent.mutate { $0 = count } }
    #expect(try fixture.digest("a b.bin") == payload.sha256)
    #expect(try await fixture.files.stat(url)?.size == size)
    #expect(sent.value == size)
    // A second, shorter upload leaves no bytes of the first.
    let other = Payload(size: size / 2, seed: 5)
    try await fixture.files.upload(fixture.source(other), to: url)
    #expect(try fixture.digest("a b.bin") == other.sha256)
    withExtendedLifetime(fixture) {}
  }

  @Test("an upload from an offset sends only the missing bytes", arguments: Peer.allCases)
  func append(_ peer: Peer) async throws {
    let fixture = try await Self.fixture(peer)
    let payload = Payload(size: 3 << 20, seed: 6)
    let url = try fixture.url("/part")
    try payload.bytes(0..<2_000_000).write(to: URL(fileURLWithPath: fixture.root + "/part"))
    let metrics = try await fixture.files.upload(fixture.source(payload), to: url, from: 2_000_000)
    #expect(try fixture.digest("part") == payload.sha256)
    #expect(metrics?.bytesSent == payload.size - 2_000_000)
    // If the file is complete, nothing is sent.
    #expect(try await fixture.files.upload(fixture.source(payload), to: url, from: payload.size) == nil)
    #expect(try fixture.digest("part") == payload.sha256)
    withExtendedLifetime(fixture) {}
  }

  @Test("a file with another length than expected is not appended to", arguments: [Peer.ftp, .sftp])
  func wrongOffset(_ peer: Peer) async throws {
    let fixture = try await Self.fixture(peer)
    let payload = Payload(size: 100_000, seed: 6)
    try payload.bytes(0..<50_000).write(to: URL(fileURLWithPath: fixture.root + "/part"))
    for offset in [40_000, 60_000] as [Int64] {
      await #expect {
        try await fixture.files.upload(fixture.source(payload), to: fixture.url("/part"), from: offset)
      } throws: { error in
        guard case .remote(.sizeDiffers(_, offset, 50_000))? = error as? TransferError else { return false }
        return true
      }
    }
    #expect(try FileManager.default.attributesOfItem(atPath: fixture.root + "/part")[.size] as? Int == 50_000)
    withExtendedLifetime(fixture) {}
  }

  @Test("a broken upload is resumed at the server's length")
  func resumeFTP() async throws {
    let fixture = try await Self.fixture(.ftp) { $0.uploadFaultAfter = 1 << 20 }
    let payload = Payload(size: 4 << 20, seed: 8)
    let url = try fixture.url("/big")
    await #expect(throws: TransferError.self) { try await fixture.files.upload(fixture.source(payload), to: url) }
    let there = try #require(try await fixture.files.stat(url)?.size)
    #expect(there > 0 && there < payload.size)
    try await fixture.files.upload(fixture.source(payload), to: url, from: there)
    #expect(try fixture.digest("big") == payload.sha256)
    withExtendedLifetime(fixture) {}
  }

  @Test("a broken SFTP upload is resumed at the server's length")
  func resumeSFTP() async throws {
    let server = try await SSHServer()
    let proxy = try DroppingProxy(to: server.port) { $0 == 0 ? .init(cutAfterReceived: 2 << 20) : .pass }
    let fixture = try DownloadFixture.ssh(server)
    try fixture.trust(proxy.port, server)
    let url = try RequestURL(server.url("sftp", server.root + "/big", port: proxy.port))
    let files = RemoteFiles(session: fixture.session, request: TransferRequest(url: url))
    let payload = Payload(size: 6 << 20, seed: 8)
    try payload.write(to: fixture.path)
    await #expect(throws: TransferError.self) { try await files.upload(.file(path: fixture.path), to: url) }
    // The server may still be writing bytes from before the cut; then it reports a different size.
    let end = ContinuousClock.now + .seconds(60)
    while true {
      let there = try #require(try await files.stat(url)?.size)
      #expect(there < payload.size)
      do throws(TransferError) {
        try await files.upload(.file(path: fixture.path), to: url, from: there)
        break
      } catch {
        guard case .remote(.sizeDiffers) = error, .now < end else { throw error }
      }
    }
    #expect(try sha256(ofFile: server.root + "/big") == payload.sha256)
  }

  @Test("createsDirectories creates the missing directories", arguments: Peer.allCases)
  func createDirectories(_ peer: Peer) async throws {
    let fixture = try await Self.fixture(peer)
    let payload = Payload(size: 1000, seed: 4)
    let url = try fixture.url("/x/y%20z/a")
    await #expect(throws: TransferError.self) { try await fixture.files.upload(fixture.source(payload), to: url) }
    try await fixture.files.upload(fixture.source(payload), to: url, createsDirectories: true)
    #expect(try fixture.digest("x/y z/a") == payload.sha256)
    withExtendedLifetime(fixture) {}
  }

  @Test(
    "rename works with special characters and replaces a file only if replacing is true",
    arguments: [Peer.ftp, .ftps, .sftp])
  func rename(_ peer: Peer) async throws {
    let fixture = try await Self.fixture(peer)
    let payload = Payload(size: 1000, seed: 4)
    for name in ["plain", "a b", "it's", "q\"q", "b\\s", "-rf", "ü", "#?%"] {
      let encoded = name.addingPercentEncoding(withAllowedCharacters: .alphanumerics)!
      try await fixture.files.upload(fixture.source(payload), to: fixture.url("/.tmp"))
      try await fixture.files.rename(fixture.url("/.tmp"), to: fixture.url("/" + encoded), replacing: false)
      #expect(try fixture.digest(name) == payload.sha256, "\(name)")
    }
    let other = Payload(size: 2000, seed: 5)
    try await fixture.files.upload(fixture.source(other), to: fixture.url("/.tmp"))
    await #expect {
      try await fixture.files.rename(fixture.url("/.tmp"), to: fixture.url("/plain"), replacing: false)
    } throws: {
      if case .remote(.exists)? = $0 as? TransferError { true } else { false }
    }
    #expect(try fixture.digest("plain") == payload.sha256)
    try await fixture.files.rename(fixture.url("/.tmp"), to: fixture.url("/plain"), replacing: true)
    #expect(try fixture.digest("plain") == other.sha256)
    await #expect(throws: TransferError.self) {
      try await fixture.files.rename(fixture.url("/none"), to: fixture.url("/plain"), replacing: true)
    }
    #expect(try fixture.digest("plain") == other.sha256)
    withExtendedLifetime(fixture) {}
  }

  @Test("a rename works after a transfer in another directory over the same connection")
  func directoryOfConnection() async throws {
    let fixture = try await Self.fixture(.ftp)
    let payload = Payload(size: 1000, seed: 4)
    try await fixture.files.upload(fixture.source(payload), to: fixture.url("/deep/er/.tmp"), createsDirectories: true)
    try await fixture.files.rename(fixture.url("/deep/er/.tmp"), to: fixture.url("/deep/er/done"), replacing: false)
    try await fixture.files.upload(fixture.source(payload), to: fixture.url("/deep/er/.tmp"))
    try await fixture.files.rename(fixture.url("/deep/er/.tmp"), to: fixture.url("/moved"), replacing: false)
    #expect(try fixture.digest("deep/er/done") == payload.sha256)
    #expect(try fixture.digest("moved") == payload.sha256)
    try await fixture.ftp?.wait(for: "CMD PASS")
    #expect(fixture.ftp?.commands.filter { $0 == "PASS" }.count == 1)
  }

  @Test("stat, remove and makeDirectory work for existing and for missing paths", arguments: Peer.allCases)
  func rest(_ peer: Peer) async throws {
    let fixture = try await Self.fixture(peer)
    #expect(try await fixture.files.stat(fixture.url("/none")) == nil)
    #expect(try await fixture.files.stat(fixture.url("/none/none")) == nil)
    try Payload(size: 77).write(to: fixture.root + "/a")
    setModificationTime(fixture.root + "/a", 1_700_000_000)
    #expect(
      try await fixture.files.stat(fixture.url("/a"))
        == RemoteFileFacts(size: 77, modificationTime: 1_700_000_000_000_000_000))
    for _ in 0..<2 { try await fixture.files.remove(fixture.url("/a")) }
    #expect(try await fixture.files.stat(fixture.url("/a")) == nil)
    for _ in 0..<2 { try await fixture.files.makeDirectory(fixture.url("/d/e/f")) }
    var isDirectory: ObjCBool = false
    #expect(
      FileManager.default.fileExists(atPath: fixture.root + "/d/e/f", isDirectory: &isDirectory)
        && isDirectory.boolValue)
    try Payload(size: 1).write(to: fixture.root + "/file")
    await #expect(throws: TransferError.self) { try await fixture.files.makeDirectory(fixture.url("/file/below")) }
    withExtendedLifetime(fixture) {}
  }

  @Test("SCP sends whole files, and reports what it does not support")
  func scp() async throws {
    let server = try await SSHServer()
    let fixture = try DownloadFixture.ssh(server)
    let url = try RequestURL(server.url("scp", server.root + "/a%20b"))
    let files = RemoteFiles(session: fixture.session, request: TransferRequest(url: url))
    let payload = Payload(size: 2 << 20, seed: 4)
    try payload.write(to: fixture.path)
    try await files.upload(.file(path: fixture.path), to: url)
    #expect(try sha256(ofFile: server.root + "/a b") == payload.sha256)
    await #expect(throws: TransferError.self) { try await files.upload(.file(path: fixture.path), to: url, from: 5) }
    await #expect(throws: TransferError.self) { try await files.stat(url) }
    await #expect(throws: TransferError.self) { try await files.remove(url) }
  }

  @Test("a cancelled upload ends as cancelled")
  func cancel() async throws {
    let fixture = try await Self.fixture(.sftp)
    var files = fixture.files
    files = RemoteFiles(
      session: files.session,
      request: {
        var request = files.request; request.limitRate = 1 << 20; return request
      }())
    let payload = Payload(size: 20 << 20, seed: 4)
    let (source, url) = (try fixture.source(payload), try fixture.url("/a"))
    let sent = Watched<Int64>(0)
    let uploading = files
    let task = Task { try await uploading.upload(source, to: url) { count in sent.mutate { $0 = count } } }
    try await sent.wait(for: "the first bytes") { $0 > 0 ? () : nil }
    task.cancel()
    await #expect {
      try await task.value
    } throws: {
      if case .cancelled? = $0 as? TransferError { true } else { false }
    }
    withExtendedLifetime(fixture) {}
  }
}
