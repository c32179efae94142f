import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import TransferEngine

@Suite(.timeLimit(.minutes(5))) struct GroupLandingTests {
  static let payload = Payload(size: 4096)

  /// Downloads 65 files. The last 64 of them land together.
  private static func landed(
    _ fixture: GroupFixture, _ server: LoopbackServer, _ fault: @escaping GroupLanding.Fault
  ) async throws -> ([Int: FileResponse], GroupSpy) {
    let proceed = Gate()
    let spy = GroupSpy(until: proceed)
    let group = fixture.group(journal: spy, fault: fault)
    group.add(try fixture.items(server, 64..<65))
    try await spy.renames.wait(for: "the first landing") { $0.isEmpty ? nil : () }
    group.add(try fixture.items(server, 0..<64))
    group.finish()
    try await spy.finished.wait(for: "all bytes") { $0.count == 65 ? () : nil }
    proceed.open()
    return (await group.responses(), spy)
  }

  @Test(
    "a landing step that fails for some files does not affect the other files", arguments: GroupLanding.Step.allCases,
    [EIO, ENOSPC])
  func fault(_ step: GroupLanding.Step, _ code: Int32) async throws {
    let server = try LoopbackServer(.file(Self.payload))
    let fixture = try GroupFixture()
    let isHit = { @Sendable (tag: Int) in tag < 64 && tag % 7 == 3 }
    let (responses, spy) = try await Self.landed(fixture, server) { at, tag in
      at == step && isHit(tag) ? .file(.system("cannot \(step)", errno: code)) : nil
    }
    for tag in 0..<65 {
      let response = try #require(responses[tag])
      let (name, part) = (
        FileFacts(fixture.directory.path("\(tag)")), FileFacts(fixture.directory.path(".\(tag).part"))
      )
      guard isHit(tag) else {
        #expect(response.isSuccess)
        #expect(name?.size == 4096 && part == nil)
        continue
      }
      #expect(response.error?.isTransient == true)
      switch step {
      case .create, .write, .verify, .sync:
        // The bytes are lost, and the whole file is requested again.
        #expect(name == nil && part == nil && response.resumeData == nil)
      case .record, .rename:
        #expect(name == nil && part?.size == 4096 && response.resumeData?.isVerified == true)
      case .syncDirectory:
        #expect(name?.size == 4096 && part == nil && response.resumeData?.isVerified == true)
      }
    }
    #expect(spy.renames.value.map(\.count) == [1, [.create, .write, .verify, .sync].contains(step) ? 55 : 64])
    // The next attempt completes the files, without a request if the bytes are on disk.
    let rest = try fixture.items(server, 0..<64) { $0.resumingWith(responses[$0.tag]?.resumeData) }
      .filter { isHit($0.tag) }
    let again = await fixture.session.downloads(rest).responses()
    #expect(again.count == 9 && again.allSucceeded)
    #expect(server.requests.count == ([.create, .write, .verify, .sync].contains(step) ? 74 : 65))
    #expect(Set(try fixture.names()) == Set((0..<65).map(String.init)))
  }

  /// The state of one file after a kill at some moment.
  struct Remains: Equatable {
    var part: FileIdentity?
    var partSize: Int64?
    var named: FileIdentity?
    var namedSize: Int64?
    var recorded: FileIdentity?
  }

  @Test(
    "after a kill at any step of a landing the recovery can tell the state of each file",
    arguments: GroupLanding.Step.allCases)
  func killed(_ step: GroupLanding.Step) async throws {
    let server = try LoopbackServer(.file(Self.payload))
    let fixture = try GroupFixture()
    let moments = Mutex<[[Remains]]>([])
    let proceed = Gate()
    let journal = GroupSpy(until: proceed)
    let path = fixture.directory.path
    let look: GroupLanding.Fault = { at, tag in
      guard at == step, tag < 64 else { return nil }
      let recorded = journal.renames.value.count > 1 ? journal.datas.withLock { $0 } : [:]
      let remains = (0..<64).map { tag in
        let (part, named) = ("\(path)/.\(tag).part", "\(path)/\(tag)")
        return Remains(
          part: PartialFiles.identity(ofFileAt: part), partSize: FileFacts(part)?.size,
          named: PartialFiles.identity(ofFileAt: named), namedSize: FileFacts(named)?.size,
          recorded: recorded[tag]?.partialFile.identity)
      }
      moments.withLock { $0.append(remains) }
      return nil
    }
    let group = fixture.group(journal: journal, fault: look)
    group.add(try fixture.items(server, 64..<65))
    try await journal.renames.wait(for: "the first landing") { $0.isEmpty ? nil : () }
    group.add(try fixture.items(server, 0..<64))
    group.finish()
    try await journal.finished.wait(for: "all bytes") { $0.count == 65 ? () : nil }
    proceed.open()
    #expect(await group.responses().allSucceeded)
    let all = moments.withLock { $0 }
    #expect(all.count == 64)
    for remains in all.joined() {
      if let named = remains.named {
        // A renamed file is complete, and the journal has recorded it before.
        #expect(remains.namedSize == 4096 && remains.recorded == named && remains.part == nil)
      } else if let recorded = remains.recorded {
        // Recorded but not renamed: the part file is complete.
        #expect(remains.part == recorded && remains.partSize == 4096)
      } else {
        // Not recorded: no file, or a part file that the next attempt replaces.
        #expect((remains.part == nil) == (remains.partSize == nil))
      }
    }
    switch step {
    case .create, .write, .verify, .sync: #expect(all.joined().allSatisfy { $0.recorded == nil && $0.named == nil })
    case .record, .rename: #expect(all.first?.allSatisfy { $0.recorded != nil && $0.named == nil } == true)
    case .syncDirectory: #expect(all.joined().allSatisfy { $0.named != nil })
    }
  }

  @Test("no transfer starts while too many files wait for their rename")
  func backlog() async throws {
    let server = try LoopbackServer(.file(Self.payload))
    let fixture = try GroupFixture()
    let proceed = Gate()
    let spy = GroupSpy(until: proceed)
    var limits = GroupLimits()
    limits.unnamedFiles = 10
    let group = DownloadGroup(core: DownloadGroupCore(fixture.session, spy, limits))
    group.add(try fixture.items(server, 0..<100))
    group.finish()
    try await spy.finished.wait(for: "ten files") { $0.count >= 10 ? () : nil }
    for _ in 0..<10 { await fixture.session.ping() }
    // Transfers that were running when the tenth file arrived can complete too.
    #expect(server.requests.count <= 10 + limits.connections)
    proceed.open()
    #expect(await group.responses().successes == 100)
  }

  @Test("bodies that exceed the memory limit leave the group and arrive")
  func memory() async throws {
    let server = try LoopbackServer(.file(Self.payload))
    let fixture = try GroupFixture()
    let spy = GroupSpy()
    var limits = GroupLimits()
    limits.memoryBytes = 4095
    let group = DownloadGroup(core: DownloadGroupCore(fixture.session, spy, limits))
    group.add(try fixture.items(server, 0..<20))
    group.finish()
    #expect(await group.responses().successes == 20)
    #expect(spy.finished.value == [])
    #expect(spy.renames.value.joined().sorted() == Array(0..<20))
    #expect(server.requests.count == 20)
  }
}
