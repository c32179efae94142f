import Foundation
import Glibc
import TestSupport
import Testing

@testable import TransferEngine

/// Destinations that exist, and files that may be unchanged: on the wire, alone and in a group.
@Suite(.timeLimit(.minutes(5))) struct ExistingFileTests {
  static let payload = Payload(size: 10_000)
  static let changed = Payload(size: 12_000, seed: 2)
  static let digest = ExpectedDigest(algorithm: .sha256, hex: payload.sha256)

  /// A directory, a server and downloads from one to the other.
  struct Scene {
    let server: LoopbackServer
    let directory: TemporaryDirectory
    let isInGroup: Bool
    let session = Session()

    init(_ behaviour: FileBehaviour, inGroup: Bool) throws {
      server = try LoopbackServer(behaviour)
      directory = try TemporaryDirectory()
      isInGroup = inGroup
    }

    var path: String { directory.path("a") }
    var content: String? { try? sha256(ofFile: path) }

    func download(
      options: DownloadOptions = [], resumingWith data: Data? = nil, expecting digests: [ExpectedDigest] = [],
      _ change: (inout DownloadDestination) -> Void
    ) async throws -> FileResponse {
      var destination = DownloadDestination(directory: directory.path, name: "a")
      change(&destination)
      let request = TransferRequest(url: try RequestURL(server.url("/a")))
      guard isInGroup else {
        return await session.download(
          request, to: destination, options: options, resumingWith: data, expecting: digests, partialName: ".a.part"
        ).response()
      }
      let download = GroupDownload(
        tag: 1, request: request, to: destination, options: options, resumingWith: data, expecting: digests,
        partialName: ".a.part")
      for await outcomes in session.downloads([download]) {
        if let outcome = outcomes.first { return outcome.response }
      }
      throw TestSupportError.failed(program: "group", reason: "it has no outcome")
    }

    /// Fetches the file, and returns what is known of it.
    func fetched() async throws -> FileRecord {
      let response = try await download { $0.knownVersions = [] }
      #expect(response.error == nil && response.outcome == .transferred)
      return try #require(response.record)
    }
  }

  private static func isTaken(_ response: FileResponse) -> Bool {
    if case .file(.destinationExists)? = response.error { true } else { false }
  }

  // MARK: Rules

  @Test("skip leaves a file as it is, without a request", arguments: [true, false])
  func skip(_ inGroup: Bool) async throws {
    let scene = try Scene(.file(Self.payload), inGroup: inGroup)
    try scene.directory.file("a", text: "mine")
    let response = try await scene.download { $0.existing = .skip }
    #expect(response.error == nil && response.outcome == .skipped && response.filePath == scene.path)
    #expect(scene.server.requests.isEmpty && response.bytesOnDisk == 0)
    #expect(try String(contentsOfFile: scene.path, encoding: .utf8) == "mine")
    unlink(scene.path)
    let second = try await scene.download { $0.existing = .skip }
    #expect(second.error == nil && second.outcome == .transferred && scene.content == Self.payload.sha256)
    #expect(try scene.directory.names() == ["a"])
  }

  @Test("skip leaves a file that appears during the transfer, and removes the part file", arguments: [true, false])
  func skipLate(_ inGroup: Bool) async throws {
    let proceed = Gate()
    let file = FileBehaviour.file(Self.payload).answering { answer, _ in answer.prelude += [.waitFor(proceed)] }
    let scene = try Scene(file, inGroup: inGroup)
    async let response = scene.download { $0.existing = .skip }
    try await scene.server.waitForRequests()
    try scene.directory.file("a", text: "mine")
    proceed.open()
    let skipped = try await response
    #expect(skipped.outcome == .skipped && skipped.error == nil)
    #expect(try String(contentsOfFile: scene.path, encoding: .utf8) == "mine")
    #expect(try scene.directory.names() == ["a"])
  }

  @Test("a name from the response is skipped, verified and numbered like any other")
  func namedByResponse() async throws {
    let scene = try Scene(
      FileBehaviour.file(Self.payload).contentDisposition("attachment; filename=b.txt").digest(.reprDigest),
      inGroup: false)
    try scene.directory.file("b.txt", text: "mine")
    let skipped = try await scene.download {
      $0.isNamedByResponse = true
      $0.existing = .skip
    }
    #expect(skipped.outcome == .skipped && skipped.filePath == scene.directory.path("b.txt"))
    let renamed = try await scene.download {
      $0.isNamedByResponse = true
      $0.existing = .rename
    }
    #expect(renamed.filePath == scene.directory.path("b.1.txt") && renamed.error == nil)
    let verified = try await scene.download {
      $0.isNamedByResponse = true
      $0.existing = .verify
    }
    #expect(verified.outcome == .transferred && verified.filePath == scene.directory.path("b.txt"))
    let again = try await scene.download {
      $0.isNamedByResponse = true
      $0.existing = .verify
    }
    #expect(again.outcome == .unchanged && again.error == nil)
    #expect(try Set(scene.directory.names()) == ["b.txt", "b.1.txt"])
  }

  @Test(
    "verify needs no request if a digest is expected: an equal file stays, another one is replaced",
    arguments: [true, false])
  func verifyExpected(_ inGroup: Bool) async throws {
    let scene = try Scene(.file(Self.payload), inGroup: inGroup)
    try Self.payload.write(to: scene.path)
    let inode = FileStamp(path: scene.path)?.inode
    let same = try await scene.download(expecting: [Self.digest]) { $0.existing = .verify }
    #expect(same.error == nil && same.outcome == .unchanged && scene.server.requests.isEmpty)
    #expect(FileStamp(path: scene.path)?.inode == inode)
    // The same length is no match.
    try Payload(size: 10_000, seed: 9).write(to: scene.path)
    let other = try await scene.download(expecting: [Self.digest]) { $0.existing = .verify }
    #expect(other.error == nil && other.outcome == .transferred && scene.content == Self.payload.sha256)
    #expect(scene.server.requests.count == 1)
  }

  @Test("verify compares with the digest that the server declares", arguments: [true, false])
  func verifyDeclared(_ inGroup: Bool) async throws {
    let scene = try Scene(FileBehaviour.file(Self.payload).digest(.reprDigest), inGroup: inGroup)
    try Self.payload.write(to: scene.path)
    let same = try await scene.download { $0.existing = .verify }
    #expect(same.error == nil && same.outcome == .unchanged && scene.server.requests.count == 1)
    try Payload(size: 10_000, seed: 9).write(to: scene.path)
    let other = try await scene.download { $0.existing = .verify }
    #expect(other.error == nil && other.outcome == .transferred && scene.content == Self.payload.sha256)
    try Payload(size: 9_999).write(to: scene.path)
    let shorter = try await scene.download { $0.existing = .verify }
    #expect(shorter.outcome == .transferred && scene.content == Self.payload.sha256)
    // Another length is another file: its digest need not be read, and one request is enough.
    #expect(scene.server.requests.count == 4)
    #expect(try scene.directory.names() == ["a"])
  }

  @Test("verify replaces a file of the same length if nobody knows a digest", arguments: [true, false])
  func verifyUnknown(_ inGroup: Bool) async throws {
    let scene = try Scene(.file(Self.payload), inGroup: inGroup)
    try Self.payload.write(to: scene.path)
    let response = try await scene.download { $0.existing = .verify }
    #expect(response.error == nil && response.outcome == .transferred)
  }

  @Test("a file with a second name is not read for a user who is restricted to directories")
  func verifyRestricted() async throws {
    let scene = try Scene(.file(Self.payload), inGroup: false)
    let secret = try scene.directory.file("secret", text: "x")
    try Self.payload.write(to: secret)
    link(secret, scene.path)
    let stamp = try #require(FileStamp(path: scene.path))
    let directory = try Directory.open(scene.directory.path)
    #expect(directory.digests(of: "a", stamp, [.sha256], isRestricted: true) == nil)
    #expect(directory.digests(of: "a", stamp, [.sha256], isRestricted: false)?[.sha256] == Self.payload.sha256)
    let older = FileStamp(size: stamp.size, modified: stamp.modified - 1, inode: stamp.inode)
    #expect(directory.digests(of: "a", older, [.sha256], isRestricted: false) == nil)
    symlink(secret, scene.directory.path("link"))
    #expect(directory.digests(of: "link", stamp, [.sha256], isRestricted: false) == nil)
    mkfifo(scene.directory.path("fifo"), 0o600)
    #expect(directory.digests(of: "fifo", stamp, [.sha256], isRestricted: false) == nil)
  }

  @Test("rename gives the next free name, and 40 files that arrive together get 40 names", arguments: [true, false])
  func rename(_ inGroup: Bool) async throws {
    let scene = try Scene(.file(Self.payload), inGroup: inGroup)
    try scene.directory.file("a.tar.gz", text: "mine")
    mkdir(scene.directory.path("a.tar.1.gz"), 0o700)
    let downloads = try (0..<40).map { tag in
      var download = GroupDownload(
        tag: tag, request: TransferRequest(url: try RequestURL(scene.server.url("/a"))),
        to: DownloadDestination(directory: scene.directory.path, name: "a.tar.gz"))
      download.destination.existing = .rename
      return download
    }
    var paths: Set<String> = []
    if inGroup {
      for await outcomes in scene.session.downloads(downloads) {
        for outcome in outcomes { paths.insert(outcome.response.filePath ?? "") }
      }
    } else {
      await withTaskGroup(of: FileResponse.self) { group in
        for download in downloads {
          group.addTask { await scene.session.download(download.request, to: download.destination).response() }
        }
        for await response in group { paths.insert(response.filePath ?? "") }
      }
    }
    #expect(paths == Set((2...41).map { scene.directory.path("a.tar.\($0).gz") }))
    #expect(try scene.directory.names().count == 42)
    #expect(try paths.allSatisfy { try sha256(ofFile: $0) == Self.payload.sha256 })
  }

  @Test("a failed sync of the directory does not lose the chosen name: the next attempt finds the file")
  func renameUnsynced() async throws {
    let server = try LoopbackServer(.file(Self.payload))
    let fixture = try GroupFixture()
    try fixture.directory.file("0", text: "mine")
    let group = fixture.group { step, _ in
      step == .syncDirectory ? .file(.io("cannot sync", errno: EIO)) : nil
    }
    func items(_ data: ResumeData? = nil) throws -> [GroupDownload] {
      try fixture.items(server, 0..<1) {
        $0.destination.existing = .rename
        $0.resumeData = data?.encoded()
      }
    }
    group.add(try items())
    group.finish()
    let failed = try #require(await group.responses()[0])
    #expect(failed.resumeData?.partialFile.finalName == "0.1")
    let again = await fixture.session.downloads(try items(failed.resumeData)).responses()[0]
    #expect(again?.filePath == fixture.directory.path("0.1") && server.requests.count == 1)
    #expect(try Set(fixture.names()) == ["0", "0.1"])
  }

  // MARK: Changes

  @Test("an unchanged file costs a request and no byte; a changed one is replaced", arguments: [true, false])
  func ifChanged(_ inGroup: Bool) async throws {
    let scene = try Scene(
      FileBehaviour.file(Self.payload).becoming(Self.changed, on: .after(2)), inGroup: inGroup)
    let record = try await scene.fetched()
    #expect(record.stamp == FileStamp(path: scene.path) && record.validators.etag == "\"\(Self.payload.name)\"")
    let same = try await scene.download { $0.knownVersions = [record] }
    #expect(same.error == nil && same.outcome == .unchanged && same.record == record && same.head?.status == 304)
    #expect(same.bytesReceived == 0 && same.bytesOnDisk == 0 && same.filePath == scene.path)
    let other = try await scene.download { $0.knownVersions = [record] }
    #expect(other.error == nil && other.outcome == .transferred && scene.content == Self.changed.sha256)
    #expect(other.record?.stamp == FileStamp(path: scene.path) && other.record != record)
    #expect(
      scene.server.requests.map { $0.headers["If-None-Match"] }
        == [nil, record.validators.etag, record.validators.etag])
    #expect(try scene.directory.names() == ["a"])
  }

  @Test("a file that is missing or changed here is asked for without a condition", arguments: [true, false])
  func localChange(_ inGroup: Bool) async throws {
    let scene = try Scene(.file(Self.payload), inGroup: inGroup)
    let record = try await scene.fetched()
    unlink(scene.path)
    let missing = try await scene.download { $0.knownVersions = [record] }
    #expect(missing.outcome == .transferred && missing.error == nil)
    // The same name and size, another inode.
    let replaced = try await scene.download { $0.knownVersions = [record] }
    #expect(Self.isTaken(replaced) && replaced.error?.isTransient == false, "\(replaced)")
    let forced = try await scene.download(options: .removePreviousFile) { $0.knownVersions = [record] }
    #expect(forced.outcome == .transferred && forced.error == nil)
    #expect(scene.server.requests.allSatisfy { $0.headers["If-None-Match"] == nil })
    #expect(scene.server.requests.count == 4)
    #expect(try scene.directory.names() == ["a"])
  }

  @Test("a file that changes here during the transfer is not replaced", arguments: [true, false])
  func localChangeLate(_ inGroup: Bool) async throws {
    let proceed = Gate()
    let file = FileBehaviour.file(Self.payload).becoming(Self.changed, on: .after(1))
      .answering(on: .after(1)) { answer, _ in answer.prelude += [.waitFor(proceed)] }
    let scene = try Scene(file, inGroup: inGroup)
    let record = try await scene.fetched()
    async let response = scene.download { $0.knownVersions = [record] }
    try await scene.server.waitForRequests(2)
    let handle = try #require(FileHandle(forWritingAtPath: scene.path))
    handle.write(Data("mine".utf8))
    try handle.close()
    proceed.open()
    let refused = try await response
    #expect(Self.isTaken(refused))
    #expect(scene.content != Self.changed.sha256)
  }

  @Test("a file without a record is compared by its time and length", arguments: [true, false])
  func withoutRecord(_ inGroup: Bool) async throws {
    let scene = try Scene(.file(Self.payload), inGroup: inGroup)
    try Self.payload.write(to: scene.path)
    let differs = try await scene.download { $0.knownVersions = [] }
    #expect(Self.isTaken(differs))
    // The served file's Last-Modified.
    var times = [timespec(tv_sec: 1_700_000_000, tv_nsec: 5), timespec(tv_sec: 1_700_000_000, tv_nsec: 5)]
    utimensat(AT_FDCWD, scene.path, &times, 0)
    let same = try await scene.download { $0.knownVersions = [] }
    #expect(same.error == nil && same.outcome == .unchanged)
    let record = try #require(same.record)
    #expect(try await scene.download { $0.knownVersions = [record] }.head?.status == 304)
    #expect(scene.server.requests.count == 3)
  }

  @Test(
    "a server that ignores the condition and names the same strong version has no new file", arguments: [true, false])
  func ignored(_ inGroup: Bool) async throws {
    let file = FileBehaviour.file(Self.payload).answering(on: .after(1)) { answer, _ in
      guard answer.status == 304 else { return }
      answer.status = 200
      answer.range = 0..<Self.payload.size
    }
    let scene = try Scene(file, inGroup: inGroup)
    let record = try await scene.fetched()
    let same = try await scene.download { $0.knownVersions = [record] }
    #expect(same.outcome == .unchanged && same.error == nil && same.head?.status == 200)
  }

  @Test("a 304 to an unconditional request is an error", arguments: [true, false])
  func unasked(_ inGroup: Bool) async throws {
    let scene = try Scene(FileBehaviour.file(Self.payload).empty(304), inGroup: inGroup)
    let response = try await scene.download { $0.knownVersions = [] }
    #expect(response.error?.status == 304)
  }

  @Test("a redirect to another server keeps the condition", arguments: [true, false])
  func redirected(_ inGroup: Bool) async throws {
    let target = try LoopbackServer(.file(Self.payload))
    let scene = try Scene(FileBehaviour.file(Self.payload).redirecting(to: target.url("/b")), inGroup: inGroup)
    let record = try await scene.fetched()
    let same = try await scene.download { $0.knownVersions = [record] }
    #expect(same.outcome == .unchanged && same.error == nil)
    #expect(target.requests.map { $0.headers["If-None-Match"] } == [nil, record.validators.etag])
  }

  @Test("the part of a new version is resumed by a range, and the old version stays until it is complete")
  func resumed() async throws {
    let large = Payload(size: 3 << 20, seed: 3)
    let file = FileBehaviour.file(Self.payload).becoming(large, on: .after(1)).dropping(after: 2 << 20, on: .at(1))
    let scene = try Scene(file, inGroup: false)
    let record = try await scene.fetched()
    let cut = try await scene.download { $0.knownVersions = [record] }
    let data = try #require(cut.resumeData)
    #expect(cut.error != nil && scene.content == Self.payload.sha256)
    let rest = try await scene.download(resumingWith: data.encoded()) { $0.knownVersions = [record] }
    #expect(rest.error == nil && rest.outcome == .transferred && scene.content == large.sha256)
    let last = try #require(scene.server.requests.last)
    #expect(last.headers["Range"] != nil && last.headers["If-Range"] != nil && last.headers["If-None-Match"] == nil)
    #expect(rest.record?.validators.etag == "\"\(large.name)\"" && rest.record?.stamp == FileStamp(path: scene.path))
  }

  @Test("with the server's time, the record has that time", arguments: [true, false])
  func remoteTime(_ inGroup: Bool) async throws {
    let scene = try Scene(.file(Self.payload), inGroup: inGroup)
    let response = try await scene.download {
      $0.knownVersions = []
      $0.attributes.usesRemoteTime = true
    }
    #expect(response.record?.stamp == FileStamp(path: scene.path))
    #expect(response.record?.stamp.modified == 1_700_000_000_000_000_000)
    let record = try #require(response.record)
    #expect(try await scene.download { $0.knownVersions = [record] }.outcome == .unchanged)
  }

  @Test("10,000 unchanged files stay in the group: one request each, nothing on the disk, no journal entry")
  func manyUnchanged() async throws {
    let server = try LoopbackServer(.file(Payload(size: 500)))
    let fixture = try GroupFixture()
    var records: [Int: FileRecord] = [:]
    for (tag, response) in await fixture.session.downloads(
      try fixture.items(server, 0..<10_000) { $0.destination.knownVersions = [] }
    ).responses() {
      records[tag] = response.record
    }
    let spy = GroupSpy()
    let group = fixture.group(journal: spy)
    group.add(
      try fixture.items(server, 0..<10_000) { $0.destination.knownVersions = [records[$0.tag]].compactMap(\.self) })
    group.finish()
    let responses = await group.responses()
    #expect(records.count == 10_000)
    #expect(responses.count == 10_000 && responses.values.allSatisfy { $0.outcome == .unchanged && $0.isSuccess })
    #expect(server.requests.count == 20_000 && spy.renames.value.isEmpty)
    #expect(try fixture.names().count == 10_000)
  }
}
