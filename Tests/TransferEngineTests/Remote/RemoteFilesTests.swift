import Foundation
import TestSupport
import Testing

@testable import TransferEngine

/// The building blocks of uploads, against real servers.
@Suite(.timeLimit(.minutes(5))) struct RemoteFilesTests {
  enum Peer: String, CaseIterable, Sendable { case ftp, ftpes, ftps, sftp }

  /// A server, and what is needed to speak to it.
  struct Room: Sendable {
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

  static func room(_ peer: Peer, _ change: (inout FTPServer.Options) -> Void = { _ in }) async throws -> Room {
    let directory = try TemporaryDirectory()
    if peer == .sftp {
      let server = try await SSHServer()
      let base = server.url("sftp", server.root)
      let files = RemoteFiles(session: Session(configuration: .ssh(server)), request: try .to(base + "/"))
      return Room(files: files, root: server.root, base: base, directory: directory, kept: server, ftp: nil)
    }
    var options = FTPServer.Options()
    options.security = [.ftpes: .explicit, .ftps: .implicit][peer] ?? .plain
    change(&options)
    let certificates = peer == .ftp ? nil : try await TestCertificates()
    let server = try await FTPServer(options, certificates: certificates)
    let base = server.url("", scheme: peer.rawValue)
    let files = RemoteFiles(session: Session(configuration: .tls(certificates)), request: try .to(base + "/"))
    return Room(files: files, root: server.root, base: base, directory: directory, kept: server, ftp: server)
  }

  @Test("a file is sent completely", arguments: Peer.allCases, [0, 1, 5 << 20] as [Int64])
  func whole(_ peer: Peer, _ size: Int64) async throws {
    let room = try await Self.room(peer)
    let payload = Payload(size: size, seed: 4)
    let url = try room.url("/a%20b.bin")
    let sent = Watched<Int64>(0)
    try await room.files.upload(room.source(payload), to: url) { count in sent.mutate { $0 = count } }
    #expect(try room.digest("a b.bin") == payload.sha256)
    #expect(try await room.files.stat(url)?.size == size)
    #expect(sent.value == size)
    // Again, shorter: nothing of the first stays.
    let other = Payload(size: size / 2, seed: 5)
    try await room.files.upload(room.source(other), to: url)
    #expect(try room.digest("a b.bin") == other.sha256)
    withExtendedLifetime(room) {}
  }

  @Test("what is there already is not sent again", arguments: Peer.allCases)
  func append(_ peer: Peer) async throws {
    let room = try await Self.room(peer)
    let payload = Payload(size: 3 << 20, seed: 6)
    let url = try room.url("/part")
    try payload.bytes(0..<2_000_000).write(to: URL(fileURLWithPath: room.root + "/part"))
    let metrics = try await room.files.upload(room.source(payload), to: url, from: 2_000_000)
    #expect(try room.digest("part") == payload.sha256)
    #expect(metrics?.bytesSent == payload.size - 2_000_000)
    // Nothing is left to send.
    #expect(try await room.files.upload(room.source(payload), to: url, from: payload.size) == nil)
    #expect(try room.digest("part") == payload.sha256)
    withExtendedLifetime(room) {}
  }

  @Test("a file of another length than thought is not appended to", arguments: [Peer.ftp, .sftp])
  func wrongOffset(_ peer: Peer) async throws {
    let room = try await Self.room(peer)
    let payload = Payload(size: 100_000, seed: 6)
    try payload.bytes(0..<50_000).write(to: URL(fileURLWithPath: room.root + "/part"))
    for offset in [40_000, 60_000] as [Int64] {
      await #expect {
        try await room.files.upload(room.source(payload), to: room.url("/part"), from: offset)
      } throws: { error in
        guard case .remote(.sizeDiffers(_, offset, 50_000))? = error as? TransferError else { return false }
        return true
      }
    }
    #expect(try FileManager.default.attributesOfItem(atPath: room.root + "/part")[.size] as? Int == 50_000)
    withExtendedLifetime(room) {}
  }

  @Test("a broken upload is resumed at the server's length")
  func resumeFTP() async throws {
    let room = try await Self.room(.ftp) { $0.uploadFaultAfter = 1 << 20 }
    let payload = Payload(size: 4 << 20, seed: 8)
    let url = try room.url("/big")
    await #expect(throws: TransferError.self) { try await room.files.upload(room.source(payload), to: url) }
    let there = try #require(try await room.files.stat(url)?.size)
    #expect(there > 0 && there < payload.size)
    try await room.files.upload(room.source(payload), to: url, from: there)
    #expect(try room.digest("big") == payload.sha256)
    withExtendedLifetime(room) {}
  }

  @Test("a broken SFTP upload is resumed at the server's length")
  func resumeSFTP() async throws {
    let server = try await SSHServer()
    let proxy = try DroppingProxy(to: server.port) { $0 == 0 ? .init(cutAfterReceived: 2 << 20) : .pass }
    let room = try DownloadRoom.ssh(server)
    try room.trust(proxy.port, server)
    let url = try RequestURL(server.url("sftp", server.root + "/big", port: proxy.port))
    let files = RemoteFiles(session: room.session, request: TransferRequest(url: url))
    let payload = Payload(size: 6 << 20, seed: 8)
    try payload.write(to: room.path)
    await #expect(throws: TransferError.self) { try await files.upload(.file(path: room.path), to: url) }
    // The server may be writing yet what came before the cut; it says then that the size is another.
    let end = ContinuousClock.now + .seconds(60)
    while true {
      let there = try #require(try await files.stat(url)?.size)
      #expect(there < payload.size)
      do throws(TransferError) {
        try await files.upload(.file(path: room.path), to: url, from: there)
        break
      } catch {
        guard case .remote(.sizeDiffers) = error, .now < end else { throw error }
      }
    }
    #expect(try sha256(ofFile: server.root + "/big") == payload.sha256)
  }

  @Test("directories on the way are made if that is wanted", arguments: Peer.allCases)
  func createDirectories(_ peer: Peer) async throws {
    let room = try await Self.room(peer)
    let payload = Payload(size: 1000, seed: 4)
    let url = try room.url("/x/y%20z/a")
    await #expect(throws: TransferError.self) { try await room.files.upload(room.source(payload), to: url) }
    try await room.files.upload(room.source(payload), to: url, createsDirectories: true)
    #expect(try room.digest("x/y z/a") == payload.sha256)
    withExtendedLifetime(room) {}
  }

  @Test("rename, with and without replacing; names of all kinds", arguments: [Peer.ftp, .ftps, .sftp])
  func rename(_ peer: Peer) async throws {
    let room = try await Self.room(peer)
    let payload = Payload(size: 1000, seed: 4)
    for name in ["plain", "a b", "it's", "q\"q", "b\\s", "-rf", "ü", "#?%"] {
      let encoded = name.addingPercentEncoding(withAllowedCharacters: .alphanumerics)!
      try await room.files.upload(room.source(payload), to: room.url("/.tmp"))
      try await room.files.rename(room.url("/.tmp"), to: room.url("/" + encoded), replacing: false)
      #expect(try room.digest(name) == payload.sha256, "\(name)")
    }
    let other = Payload(size: 2000, seed: 5)
    try await room.files.upload(room.source(other), to: room.url("/.tmp"))
    await #expect {
      try await room.files.rename(room.url("/.tmp"), to: room.url("/plain"), replacing: false)
    } throws: {
      if case .remote(.exists)? = $0 as? TransferError { true } else { false }
    }
    #expect(try room.digest("plain") == payload.sha256)
    try await room.files.rename(room.url("/.tmp"), to: room.url("/plain"), replacing: true)
    #expect(try room.digest("plain") == other.sha256)
    await #expect(throws: TransferError.self) {
      try await room.files.rename(room.url("/none"), to: room.url("/plain"), replacing: true)
    }
    #expect(try room.digest("plain") == other.sha256)
    withExtendedLifetime(room) {}
  }

  @Test("a rename follows a transfer from another directory over the same connection")
  func directoryOfConnection() async throws {
    let room = try await Self.room(.ftp)
    let payload = Payload(size: 1000, seed: 4)
    try await room.files.upload(room.source(payload), to: room.url("/deep/er/.tmp"), createsDirectories: true)
    try await room.files.rename(room.url("/deep/er/.tmp"), to: room.url("/deep/er/done"), replacing: false)
    try await room.files.upload(room.source(payload), to: room.url("/deep/er/.tmp"))
    try await room.files.rename(room.url("/deep/er/.tmp"), to: room.url("/moved"), replacing: false)
    #expect(try room.digest("deep/er/done") == payload.sha256)
    #expect(try room.digest("moved") == payload.sha256)
    try await room.ftp?.wait(for: "CMD PASS")
    #expect(room.ftp?.commands.filter { $0 == "PASS" }.count == 1)
  }

  @Test("stat and remove of what is there and of what is not; directories made twice", arguments: Peer.allCases)
  func rest(_ peer: Peer) async throws {
    let room = try await Self.room(peer)
    #expect(try await room.files.stat(room.url("/none")) == nil)
    #expect(try await room.files.stat(room.url("/none/none")) == nil)
    try Payload(size: 77).write(to: room.root + "/a")
    setModificationTime(room.root + "/a", 1_700_000_000)
    #expect(
      try await room.files.stat(room.url("/a"))
        == RemoteFileFacts(size: 77, modificationTime: 1_700_000_000_000_000_000))
    for _ in 0..<2 { try await room.files.remove(room.url("/a")) }
    #expect(try await room.files.stat(room.url("/a")) == nil)
    for _ in 0..<2 { try await room.files.makeDirectory(room.url("/d/e/f")) }
    var isDirectory: ObjCBool = false
    #expect(
      FileManager.default.fileExists(atPath: room.root + "/d/e/f", isDirectory: &isDirectory) && isDirectory.boolValue)
    try Payload(size: 1).write(to: room.root + "/file")
    await #expect(throws: TransferError.self) { try await room.files.makeDirectory(room.url("/file/below")) }
    withExtendedLifetime(room) {}
  }

  @Test("SCP sends whole files, and reports what it does not support")
  func scp() async throws {
    let server = try await SSHServer()
    let room = try DownloadRoom.ssh(server)
    let url = try RequestURL(server.url("scp", server.root + "/a%20b"))
    let files = RemoteFiles(session: room.session, request: TransferRequest(url: url))
    let payload = Payload(size: 2 << 20, seed: 4)
    try payload.write(to: room.path)
    try await files.upload(.file(path: room.path), to: url)
    #expect(try sha256(ofFile: server.root + "/a b") == payload.sha256)
    await #expect(throws: TransferError.self) { try await files.upload(.file(path: room.path), to: url, from: 5) }
    await #expect(throws: TransferError.self) { try await files.stat(url) }
    await #expect(throws: TransferError.self) { try await files.remove(url) }
  }

  @Test("a cancelled upload ends as cancelled")
  func cancel() async throws {
    let room = try await Self.room(.sftp)
    var files = room.files
    files = RemoteFiles(
      session: files.session,
      request: {
        var request = files.request; request.limitRate = 1 << 20; return request
      }())
    let payload = Payload(size: 20 << 20, seed: 4)
    let (source, url) = (try room.source(payload), try room.url("/a"))
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
    withExtendedLifetime(room) {}
  }
}
