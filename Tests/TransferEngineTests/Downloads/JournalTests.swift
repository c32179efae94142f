import Foundation
import Synchronization
import TestSupport
import Testing

@testable import TransferEngine

@Suite(.timeLimit(.minutes(5))) struct JournalTests {
  /// Keeps what it was told, looks at the disk at that moment, and may wait or throw.
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

  @Test("no more than 1 MiB is taken before the first record is durable")
  func recordFirst() async throws {
    let payload = Payload(size: 20 << 20)
    let server = try LoopbackServer(.file(payload))
    let room = try DownloadRoom()
    let durable = Gate()
    let spy = Spy(destination: room.path, recording: durable)
    let request = try room.download(.of(server), journal: spy).resume()
    try await spy.entries.wait(for: "the first record") { $0.isEmpty ? nil : () }
    // More than the limit is on its way, so the transfer has met it, or is about to.
    try await server.waitForCounters { $0.bodyBytesSent > DownloadReceiver.unrecordedLimit + 65536 }
    for _ in 0..<20 {
      await room.session.ping()
      #expect((room.partSize ?? 0) <= DownloadReceiver.unrecordedLimit)
    }
    #expect(request.progress.completed <= DownloadReceiver.unrecordedLimit)
    durable.open()
    #expect(await request.response().isSuccess)
    try room.expectOnly(payload)
  }

  @Test("records are in order and never ahead of the disk; the rename is announced when all bytes are present")
  func order() async throws {
    let payload = Payload(size: 150 << 20)
    // The rest comes when a second record was made, however late.
    let proceed = Gate()
    let server = try LoopbackServer(.file(payload).holding(after: 100 << 20, until: proceed))
    let room = try DownloadRoom()
    let spy = Spy(destination: room.path)
    let request = try room.download(.of(server), journal: spy).resume()
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
    #expect(PartialFiles.identity(ofFileAt: room.path) == datas.last?.partialFile.identity)
  }

  @Test("a small file has no record, but its rename is announced")
  func small() async throws {
    let payload = Payload(size: 1 << 20)
    let server = try LoopbackServer(.file(payload))
    let room = try DownloadRoom()
    let spy = Spy(destination: room.path)
    let start = ContinuousClock.now
    #expect(try await room.download(.of(server), journal: spy).response().isSuccess)
    let rename = Spy.Entry.willRename(onDisk: payload.size, destinationExists: false)
    // After two seconds it is worth one.
    #expect(spy.entries.value == [rename] || spy.entries.value.last == rename && start.duration(to: .now) > .seconds(2))
  }

  @Test("a transfer that cannot be recorded ends", arguments: [true, false])
  func throwing(inRecord: Bool) async throws {
    let payload = Payload(size: 20 << 20)
    let server = try LoopbackServer(.file(payload))
    let room = try DownloadRoom()
    let spy = Spy(destination: room.path, recordFails: inRecord, renameFails: !inRecord)
    let response = try await room.download(.of(server), journal: spy).response()
    guard case .hook(.journal, let error)? = response.error, error is Spy.Refusal else {
      Issue.record("\(String(describing: response.error))")
      return
    }
    #expect(response.error?.isTransient == true)
    #expect(FileFacts(room.path) == nil)
    if inRecord { #expect(response.bytesOnDisk <= DownloadReceiver.unrecordedLimit) }
    // Whatever was kept can be gone on from.
    let again = try await room.download(.of(server), resumingWith: response.resumeData?.encoded()).response()
    #expect(again.isSuccess)
    try room.expectOnly(payload)
  }

  @Test("cancelled while the journal is at work: ends when it has ended")
  func cancelled() async throws {
    let payload = Payload(size: 20 << 20)
    let server = try LoopbackServer(.file(payload))
    let room = try DownloadRoom()
    let durable = Gate()
    let spy = Spy(destination: room.path, recording: durable)
    let request = try room.download(.of(server), journal: spy).resume()
    try await spy.entries.wait(for: "the first record") { $0.isEmpty ? nil : () }
    request.cancel()
    durable.open()
    #expect(await !request.response().isSuccess)
    #expect(FileFacts(room.path) == nil)
  }
}

/// A file that got its name in an attempt that could not bring the name to the disk.
@Suite(.timeLimit(.minutes(5))) struct NamedFileTests {
  private final class Keeper: DownloadJournal {
    let last = Mutex<ResumeData?>(nil)
    func record(_ data: ResumeData) async throws {}
    func willRename(_ data: ResumeData) async throws { last.withLock { $0 = data } }
  }

  /// What has become of the file since.
  enum Change: CaseIterable { case none, replaced, grown, removed, linkedToItsFirstName }

  @Test(
    "it is recognised, and nothing is asked for; a file that is not ours is in the way as ever",
    arguments: Change.allCases,
    [false, true])
  func recognised(_ change: Change, isReplacing: Bool) async throws {
    let payload = Payload(size: 200_000)
    let server = try LoopbackServer(.file(payload))
    let room = try DownloadRoom()
    let journal = Keeper()
    #expect(await (try room.download(.of(server), journal: journal)).resume().response().isSuccess)
    let data = try #require(journal.last.withLock { $0 })
    switch change {
    case .none: break
    case .replaced:
      // Beside the old one, so that its inode is another.
      try payload.write(to: room.directory.path("new"))
      rename(room.directory.path("new"), room.path)
    case .grown:
      let file = try FileHandle(forWritingTo: URL(fileURLWithPath: room.path))
      try file.seekToEnd()
      try file.write(contentsOf: Data([1]))
      try file.close()
    case .removed: unlink(room.path)
    case .linkedToItsFirstName: link(room.path, room.directory.path(data.partialFile.name))
    }
    let response = await
      (try room.download(
        .of(server), options: isReplacing ? [.removePreviousFile] : [], resumingWith: data.encoded())).resume()
      .response()
    let isOurs = change == .none || change == .linkedToItsFirstName
    #expect(server.requests.count == (isOurs || !isReplacing && change != .removed ? 1 : 2))
    if isOurs || isReplacing || change == .removed {
      #expect(response.isSuccess && response.bytesOnDisk == payload.size)
      try room.expectOnly(payload)
    } else if case .file(.destinationExists(let path))? = response.error {
      #expect(path == room.path)
    } else {
      Issue.record("\(String(describing: response.error))")
    }
  }

  @Test("resume data made from the file itself does the same")
  func made() async throws {
    let payload = Payload(size: 1000)
    let server = try LoopbackServer(.file(payload))
    let room = try DownloadRoom()
    try payload.write(to: room.path)
    let data = try #require(
      PartialFiles.resumeData(ofNamedFile: room.path, partialName: ".x.part", url: server.url("/file.bin")))
    #expect(await (try room.download(server, resumingWith: data.encoded())).resume().response().isSuccess)
    #expect(server.requests.isEmpty)
    #expect(PartialFiles.resumeData(ofNamedFile: room.directory.path("none"), partialName: "x", url: "") == nil)
    #expect(PartialFiles.resumeData(ofNamedFile: room.directory.path("."), partialName: "x", url: "") == nil)
  }
}
