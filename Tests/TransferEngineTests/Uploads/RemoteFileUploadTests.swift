import Foundation
import TestSupport
import Testing

@testable import TransferEngine

@Suite(.timeLimit(.minutes(5))) struct RemoteFileUploadTests {
  private static let keys = Credentials(username: "user", password: "secret")

  private func upload(_ fixture: UploadFixture, _ ftp: FTPServer, _ path: String, onlyIfAbsent: Bool = false) throws
    -> FileUpload
  {
    try fixture.upload(
      to: "ftp://127.0.0.1:\(ftp.port)/\(path)", by: .automatic, credentials: Self.keys, onlyIfAbsent: onlyIfAbsent)
  }

  private func ssh(_ fixture: UploadFixture, _ server: SSHServer, _ scheme: String, _ name: String) throws -> FileUpload
  {
    var upload = try fixture.upload(to: server.url(scheme, server.root + "/" + name), by: .automatic)
    upload.request.ssh = SSHConfiguration(knownHostsFiles: [server.knownHosts], privateKeyFile: server.privateKey)
    return upload
  }

  @Test("FTP: files of each size arrive, directories are created, and no temporary file is left")
  func ftp() async throws {
    let ftp = try await FTPServer()
    for size in [0, 1, 5 << 20 + 1, 8 << 20 - 1] as [Int64] {
      let fixture = try UploadFixture(size: size)
      let response = await fixture.send(try upload(fixture, ftp, "a/b%20c/\(size).bin"))
      #expect(word(response.error) == "success", "\(size)")
      #expect(response.bytesAcknowledged == size)
      #expect(try sha256(ofFile: ftp.root + "/a/b c/\(size).bin") == fixture.payload.sha256)
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: ftp.root + "/a/b c").count == 4)
  }

  @Test("FTP: a broken upload is resumed", arguments: [1, 2_000_000] as [Int64])
  func ftpResumes(after bytes: Int64) async throws {
    var options = FTPServer.Options()
    options.uploadFaultAfter = bytes
    let ftp = try await FTPServer(options)
    let fixture = try UploadFixture(size: 6 << 20)
    let journal = UploadRecorder()
    let first = await fixture.send(try upload(fixture, ftp, "x.bin"), journal: journal)
    #expect(first.error?.isTransient == true)
    #expect(!FileManager.default.fileExists(atPath: ftp.root + "/x.bin"))
    let second = await Session().upload(
      try upload(fixture, ftp, "x.bin"), resumingWith: journal.last?.encoded(), interceptor: .atOnce(2)
    ).response()
    #expect(word(second.error) == "success")
    #expect(second.resumedFrom > 0)
    #expect(second.bytesSent == fixture.payload.size - second.resumedFrom)
    #expect(try sha256(ofFile: ftp.root + "/x.bin") == fixture.payload.sha256)
    #expect(try FileManager.default.contentsOfDirectory(atPath: ftp.root) == ["x.bin"])
  }

  /// The server says only that it failed, and libcurl only that SSH failed.
  @Test("SFTP: a server whose disk is full is reported as that")
  func sftpDiskFull() async throws {
    let server = try await SSHServer()
    let path = server.root + "/disk"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    let disk = try await SmallDisk(at: path, kibibytes: 1024)
    let fixture = try UploadFixture(size: 3 << 20)
    let response = await fixture.send(try ssh(fixture, server, "sftp", "disk/x.bin"))
    guard case .remote(.storageFull)? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
    #expect(response.error?.isTransient == true)
    try await disk.unmount()
  }

  @Test(
    "the free space of libcurl's statvfs",
    arguments: [
      ("statvfs:\nf_bsize: 1\nf_frsize: 4096\nf_bfree: 9\nf_bavail: 3\n", 12_288), ("f_frsize: 4096\n", nil),
      ("f_frsize: 4096\nf_bavail: 9223372036854775807\n", nil), ("f_bavail: -1\nf_frsize: 1\n", nil),
    ] as [(String, Int64?)])
  func freeSpace(_ text: String, _ bytes: Int64?) { #expect(RemoteFileFacts.freeBytes(in: text) == bytes) }

  /// A server that is slow to write goes on with the bytes of a lost connection while the next connection appends: the
  /// temporary file then has bytes twice, and everything after them is shifted. Another kill leaves a plausible length.
  @Test("FTP and SFTP: a temporary file whose end is not the source's is sent again", arguments: ["ftp", "sftp"])
  func shifted(_ scheme: String) async throws {
    let fixture = try UploadFixture(size: 6 << 20)
    let (ftp, server) = (try await FTPServer(), try await SSHServer())
    let isFTP = scheme == "ftp"
    let wanted = try isFTP ? upload(fixture, ftp, "x.bin") : ssh(fixture, server, "sftp", "x.bin")
    let root = isFTP ? ftp.root : server.root
    let source = try SourceIdentity(path: fixture.path)
    let path = try TemporaryName(for: wanted.request.url, source: source).path
    let bytes = fixture.payload.bytes(0..<2_000_000) + fixture.payload.bytes(1_500_000..<3_000_000)
    try bytes.write(to: URL(fileURLWithPath: root + "/" + URL(fileURLWithPath: path).lastPathComponent))
    let ledger = UploadLedger(
      source: source, target: wanted.request.url.ledgerTarget, progress: .temporary(path: path))
    let response = await fixture.send(wanted, resumingWith: ledger)
    #expect(word(response.error) == "success")
    #expect(response.resumedFrom == 0)
    #expect(try sha256(ofFile: root + "/x.bin") == fixture.payload.sha256)
    #expect(try FileManager.default.contentsOfDirectory(atPath: root) == ["x.bin"])
  }

  @Test(
    "FTP: a server that refuses the rename keeps the file that was to be replaced", arguments: ["RNFR", "RNTO"])
  func refusedRename(_ command: String) async throws {
    var options = FTPServer.Options()
    options.unknownCommands = [command]
    let ftp = try await FTPServer(options)
    let (fixture, old) = (try UploadFixture(size: 1000), Payload(size: 77, seed: 5))
    try old.write(to: ftp.root + "/x.bin")
    let response = await fixture.send(try upload(fixture, ftp, "x.bin"))
    #expect(response.error?.isTransient == false)
    #expect(try sha256(ofFile: ftp.root + "/x.bin") == old.sha256)
    let ledger = try #require(response.ledger)
    try await fixture.session.abandon(try upload(fixture, ftp, "x.bin"), ledger: ledger.encoded())
    #expect(try sha256(ofFile: ftp.root + "/x.bin") == old.sha256)
    #expect(try FileManager.default.contentsOfDirectory(atPath: ftp.root) == ["x.bin"])
  }

  @Test("SFTP: onlyIfAbsent completes an upload whose rename had no reply, and keeps another program's file")
  func lostReply() async throws {
    let server = try await SSHServer()
    let fixture = try UploadFixture(size: 1000)
    var wanted = try ssh(fixture, server, "sftp", "x.bin")
    wanted.onlyIfAbsent = true
    let journal = UploadRecorder()
    #expect(word(await fixture.send(wanted, journal: journal).error) == "success")
    let ledger = try #require(journal.last)
    #expect(ledger.acknowledged == 1000)
    let again = await fixture.send(wanted, resumingWith: ledger)
    #expect(word(again.error) == "success")
    #expect(again.bytesSent == 0)
    let other = Payload(size: 1000, seed: 5)
    try other.write(to: server.root + "/x.bin")
    #expect(await fixture.send(wanted, resumingWith: ledger).error?.isTransient == false)
    #expect(try sha256(ofFile: server.root + "/x.bin") == other.sha256)
  }

  @Test("SFTP: a directory that has the target's name stays as it is")
  func directoryInTheWay() async throws {
    let server = try await SSHServer()
    let (fixture, inside) = (try UploadFixture(size: 1000), server.root + "/x.bin/inside")
    try FileManager.default.createDirectory(atPath: server.root + "/x.bin", withIntermediateDirectories: false)
    try Payload(size: 77, seed: 5).write(to: inside)
    let wanted = try ssh(fixture, server, "sftp", "x.bin")
    let response = await fixture.send(wanted)
    #expect(response.error?.isTransient == false)
    #expect(FileManager.default.fileExists(atPath: inside))
    let ledger = try #require(response.ledger)
    try await fixture.session.abandon(wanted, ledger: ledger.encoded())
    #expect(try FileManager.default.contentsOfDirectory(atPath: server.root) == ["x.bin"])
    #expect(FileManager.default.fileExists(atPath: inside))
  }

  @Test("SFTP: a file that was put aside before a kill comes back after a cancel, and goes after an upload")
  func aside() async throws {
    let server = try await SSHServer()
    let (fixture, old) = (try UploadFixture(size: 1000), Payload(size: 77, seed: 5))
    let wanted = try ssh(fixture, server, "sftp", "x.bin")
    let source = try SourceIdentity(path: fixture.path)
    let path = try TemporaryName(for: wanted.request.url, source: source).path
    let ledger = UploadLedger(
      source: source, target: wanted.request.url.ledgerTarget, progress: .temporary(path: path))
    // The server after a kill between the two renames.
    try fixture.payload.write(to: path)
    try old.write(to: String(path.dropLast(5)) + ".old")
    try await fixture.session.abandon(wanted, ledger: ledger.encoded())
    #expect(try FileManager.default.contentsOfDirectory(atPath: server.root) == ["x.bin"])
    #expect(try sha256(ofFile: server.root + "/x.bin") == old.sha256)
    try fixture.payload.write(to: path)
    try old.write(to: String(path.dropLast(5)) + ".old")
    let response = await fixture.send(wanted, resumingWith: ledger)
    #expect(word(response.error) == "success")
    #expect(try FileManager.default.contentsOfDirectory(atPath: server.root) == ["x.bin"])
    #expect(try sha256(ofFile: server.root + "/x.bin") == fixture.payload.sha256)
  }

  @Test("FTP: a changed source starts over, onlyIfAbsent keeps the existing file, and abandon leaves no file")
  func ftpPolicies() async throws {
    var options = FTPServer.Options()
    options.uploadFaultAfter = 2_000_000
    let ftp = try await FTPServer(options)
    let fixture = try UploadFixture(size: 6 << 20)
    let ledger = try #require(await fixture.send(try upload(fixture, ftp, "x.bin")).ledger)
    let new = Payload(size: 5 << 20, seed: 9)
    try fixture.change(to: new)
    let response = await fixture.send(try upload(fixture, ftp, "x.bin"), resumingWith: ledger)
    #expect(word(response.error) == "success")
    #expect(try sha256(ofFile: ftp.root + "/x.bin") == new.sha256)
    let kept = await fixture.send(try upload(fixture, ftp, "x.bin", onlyIfAbsent: true))
    #expect(kept.error?.isTransient == false)
    try Payload(size: 3).write(to: ftp.root + ledger.temporaryPath)
    for _ in 0..<2 { try await fixture.session.abandon(try upload(fixture, ftp, "x.bin"), ledger: ledger.encoded()) }
    #expect(try FileManager.default.contentsOfDirectory(atPath: ftp.root) == ["x.bin"])
  }

  @Test("SFTP and SCP: every size arrives", arguments: ["sftp", "scp"])
  func ssh(_ scheme: String) async throws {
    let server = try await SSHServer()
    for size in [0, 1, 5 << 20 + 1] as [Int64] {
      let fixture = try UploadFixture(size: size)
      let response = await fixture.send(try ssh(fixture, server, scheme, "\(size).bin"))
      #expect(word(response.error) == "success", "\(size)")
      #expect(try sha256(ofFile: server.root + "/\(size).bin") == fixture.payload.sha256)
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: server.root).count == 3)
  }

  @Test("SFTP: an upload that is interrupted ten times is resumed")
  func sftpKills() async throws {
    let server = try await SSHServer()
    let fixture = try UploadFixture(size: 32 << 20)
    let journal = UploadRecorder()
    // The limit is so low that even the last attempt is cancelled before it completes.
    var slow = try ssh(fixture, server, "sftp", "k.bin")
    slow.request.limitRate = 2 << 20
    for number in 1...10 {
      let reached = Gate()
      let request = Session().upload(
        slow, resumingWith: journal.last?.encoded(), journal: journal, interceptor: .soon)
      request.uploadProgress { if $0.sent >= Int64(number) << 19 { reached.open() } }
      request.resume()
      try await reached.wait()
      request.cancel()
      _ = await request.response()
    }
    let last = await fixture.send(
      try ssh(fixture, server, "sftp", "k.bin"), resumingWith: journal.last, interceptor: .soon)
    #expect(word(last.error) == "success")
    #expect(last.resumedFrom > 2 << 20)
    #expect(try sha256(ofFile: server.root + "/k.bin") == fixture.payload.sha256)
    #expect(try FileManager.default.contentsOfDirectory(atPath: server.root) == ["k.bin"])
  }
}

extension UploadLedger {
  fileprivate var temporaryPath: String { if case .temporary(let path) = progress { path } else { "" } }
}
