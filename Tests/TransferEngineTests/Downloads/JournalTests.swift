import Foundation
import Synchronization
import TestSupport
import Testing

@testable import TransferEngine

@Suite(.timeLimit(.minutes(5))) struct JournalTests {
  /// Stores each call together with the state of the disk at that moment. Can wait or throw.
  private final class Spy: DownloadJournal {
    enum Entry: Equatable {
      case record(checkpoint: Int64, onDisk: Int64)
      case willRename(onDisk: Int64, destinationExists: Bool)
    }
    struct Refusal: Error {}

    let entries = Watched<[Entry]>([])
    let datas = Mutex<[ResumeData]>([])
    let destination: String
    let recording: Gate
    let recordFails: Bool
    let renameFails: Bool

    init(destination: String, recording: Gate? = nil, recordFails: Bool = false, renameFails: Bool = false) {
      self.destination = destination
      self.recordFails = recordFails
      self.renameFails = renameFails
      self.recording = recording ?? Gate()
      if recording == nil { self.recording.open() }
    }

    private func size(_ data: ResumeData) -> Int64 {
      FileFacts(data.partialFile.directory + "/" + data.partialFile.name)?.size ?? -1
    }

    func record(_ data: ResumeData) async throws {
      let entry = Entry.record(checkpoint: data.checkpointBytes, onDisk: size(data))
      datas.withLock { $0.append(data) }
      entries.mutate { $0.append(entry) }
      if recordFails { throw Refusal() }
      try await recording.wait()
    }

    func willRename(_ data: ResumeData) async throws {
      let entry = Entry.willRename(onDisk: size(data), destinationExists: FileFacts(destination) != nil)
      datas.withLock { $0.append(data) }
      entries.mutate { $0.append(entry) }
      if renameFails { throw Refusal() }
    }
  }

  @Test("at most 1 MiB is written to the part file before the first journal record is durable")
  func recordFirst() async throws {
    let payload = Payload(size: 20 << 20)
    let server = try LoopbackServer(.file(payload))
    let fixture = try DownloadFixture()
    let durable = Gate()
    let spy = Spy(destination: fixture.path, recording: durable)
    let request = try fixture.download(.of(server), journal: spy).resume()
    try await spy.entries.wait(for: "the first record") { $0.isEmpty ? nil : () }
    // The server has sent more than the limit, so the transfer has reached the limit or will soon.
    try await server.waitForCounters { $0.bodyBytesSent > DownloadReceiver.unrecordedLimit + 65536 }
    for _ in 0..<20 {
      await fixture.session.ping()
      #expect((fixture.partSize ?? 0) <= DownloadReceiver.unrecordedLimit)
    }
    #expect(request.progress.completed <= DownloadReceiver.unrecordedLimit)
    durable.open()
    #expect(await request.response().isSuccess)
    try fixture.expectOnly(payload)
  }

  @Test("journal records never exceed the bytes on disk, and willRename is called when all bytes are present")
  func order() async throws {
    let payload = Payload(size: 150 << 20)
    // The server sends the rest only after the second record.
    let proceed = Gate()
    let server = try LoopbackServer(.file(payload).holding(after: 100 << 20, until: proceed))
    let fixture = try DownloadFixture()
    let spy = Spy(destination: fixture.path)
    let request = try fixture.download(.of(server), journal: spy).resume()
    try await spy.entries.wait(for: "two records") { $0.count >= 2 ? () : nil }
    proceed.open()
    #expect(await request.response().isSuccess)
    var checkpoints: [Int64] = []
    for entry in spy.entries.value.dropLast() {
      guard case .record(let checkpoint, let onDisk) = entry else {
        Issue.record("willRename is not last")
        continue
      }
      checkpoints.append(checkpoint)
      #expect(checkpoint <= onDisk)
    }
    #expect(checkpoints.first == 0)
    #expect(checkpoints == checkpoints.sorted())
    #expect(checkpoints.count >= 2)
    #expect(spy.entries.value.last == .willRename(onDisk: payload.size, destinationExists: false))
    let datas = spy.datas.withLock { $0 }
    #expect(Set(datas.map(\.partialFile.identity)).count == 1)
    #expect(datas.map(\.isVerified) == datas.dropLast().map { _ in false } + [true])
    #expect(PartialFiles.identity(ofFileAt: fixture.path) == datas.last?.partialFile.identity)
  }

  @Test("a small file causes no journal record, only a call of willRename")
  func small() async throws {
    let payload = Payload(size: 1 << 20)
    let server = try LoopbackServer(.file(payload))
    let fixture = try DownloadFixture()
    let spy = Spy(destination: fixture.path)
    let start = ContinuousClock.now
    #expect(try await fixture.download(.of(server), journal: spy).response().isSuccess)
    let rename = Spy.Entry.willRename(onDisk: payload.size, destinationExists: false)
    // A transfer that takes more than two seconds makes a record.
    #expect(spy.entries.value == [rename] || spy.entries.value.last == rename && start.duration(to: .now) > .seconds(2))
  }

  @Test("a journal that throws ends the attempt, and the download can be resumed", arguments: [true, false])
  func throwing(inRecord: Bool) async throws {
    let payload = Payload(size: 20 << 20)
    let server = try LoopbackServer(.file(payload))
    let fixture = try DownloadFixture()
    let spy = Spy(destination: fixture.path, recordFails: inRecord, renameFails: !inRecord)
    let response = try await fixture.download(.of(server), journal: spy).response()
    guard case .hook(.journal, let error)? = response.error, error is Spy.Refusal else {
      Issue.record("\(String(describing: response.error))")
      return
    }
    #expect(response.error?.isTransient == true)
    #expect(FileFacts(fixture.path) == nil)
    if inRecord { #expect(response.bytesOnDisk <= DownloadReceiver.unrecordedLimit) }
    // The download can be resumed from the stored bytes.
    let again = try await fixture.download(.of(server), resumingWith: response.resumeData?.encoded()).response()
    #expect(again.isSuccess)
    try fixture.expectOnly(payload)
  }

  @Test("a download that is cancelled during a journal record creates no file")
  func cancelled() async throws {
    let payload = Payload(size: 20 << 20)
    let server = try LoopbackServer(.file(payload))
    let fixture = try DownloadFixture()
    let durable = Gate()
    let spy = Spy(destination: fixture.path, recording: durable)
    let request = try fixture.download(.of(server), journal: spy).resume()
    try await spy.entries.wait(for: "the first record") { $0.isEmpty ? nil : () }
    request.cancel()
    durable.open()
    #expect(await !request.response().isSuccess)
    #expect(FileFacts(fixture.path) == nil)
  }
}

/// A file that was renamed by an attempt that failed to synchronize the directory.
@Suite(.timeLimit(.minutes(5))) struct NamedFileTests {
  private final class Keeper: DownloadJournal {
    let last = Mutex<ResumeData?>(nil)
    func record(_ data: ResumeData) async throws {}
    func willRename(_ data: ResumeData) async throws { last.withLock { $0 = data } }
  }

  /// How the file has changed since then.
  enum Change: CaseIterable { case none, replaced, grown, removed, linkedToItsFirstName }

  @Test(
    "a file that an earlier attempt renamed needs no request; another file with its name is not accepted",
    arguments: Change.allCases,
    [false, true])
  func recognised(_ change: Change, isReplacing: Bool) async throws {
    let payload = Payload(size: 200_000)
    let server = try LoopbackServer(.file(payload))
    let fixture = try DownloadFixture()
    let journal = Keeper()
    #expect(await (try fixture.download(.of(server), journal: journal)).resume().response().isSuccess)
    let data = try #require(journal.last.withLock { $0 })
    switch change {
    case .none: break
    case .replaced:
      // The new file exists beside the old one, so that it has another inode.
      try payload.write(to: fixture.directory.path("new"))
      rename(fixture.directory.path("new"), fixture.path)
    case .grown:
      let file = try FileHandle(forWritingTo: URL(fileURLWithPath: fixture.path))
      try file.seekToEnd()
      try file.write(contentsOf: Data([1]))
      try file.close()
    case .removed: unlink(fixture.path)
    case .linkedToItsFirstName: link(fixture.path, fixture.directory.path(data.partialFile.name))
    }
    let response = await
      (try fixture.download(
        .of(server), options: isReplacing ? [.removePreviousFile] : [], resumingWith: data.encoded())).resume()
      .response()
    let isOurs = change == .none || change == .linkedToItsFirstName
    #expect(server.requests.count == (isOurs || !isReplacing && change != .removed ? 1 : 2))
    if isOurs || isReplacing || change == .removed {
      #expect(response.isSuccess && response.bytesOnDisk == payload.size)
      try fixture.expectOnly(payload)
    } else if case .file(.destinationExists(let path))? = response.error {
      #expect(path == fixture.path)
    } else {
      Issue.record("\(String(describing: response.error))")
    }
  }

  @Test("a download with resume data made from the finished file sends no request")
  func made() async throws {
    let payload = Payload(size: 1000)
    let server = try LoopbackServer(.file(payload))
    let fixture = try DownloadFixture()
    try payload.write(to: fixture.path)
    let data = try #require(
      PartialFiles.resumeData(ofNamedFile: fixture.path, partialName: ".x.part", url: server.url("/file.bin")))
    #expect(await (try fixture.download(server, resumingWith: data.encoded())).resume().response().isSuccess)
    #expect(server.requests.isEmpty)
    #expect(PartialFiles.resumeData(ofNamedFile: fixture.directory.path("none"), partialName: "x", url: "") == nil)
    #expect(PartialFiles.resumeData(ofNamedFile: fixture.directory.path("."), partialName: "x", url: "") == nil)
  }
}
