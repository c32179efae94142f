import Foundation
import Testing
import TransferAPI
import WireValues

@testable import Store

@Suite struct FollowUpTests {
  static let stamp = SourceIdentity(device: 1, inode: 2, size: 3, modified: .max)
  static let ledger = Data("ledger".utf8)

  private func upload(_ fixture: Fixture, _ path: String = "/a") async throws -> JobID {
    var spec = UploadLineTests.upload(path, to: "https://h\(path)")
    spec.options.onSuccess = .move(to: "/sent")
    spec.options.credentials = .netrc
    spec.options.headers = ["X-Key": "1"]
    return try await fixture.add(spec)
  }

  private func complete(_ fixture: Fixture, _ id: JobID, hook: Bool = false) async throws {
    try await fixture.settle(try await fixture.claim(id), .complete) { settlement in
      settlement.followUp.fileAction = PendingFileAction(
        job: id, owner: Fixture.owner, path: "/a", action: .move(to: "/sent"), stamp: Self.stamp)
      settlement.followUp.wantsHook = hook
    }
  }

  @Test("an upload's completion and its file action are one transaction")
  func together() async throws {
    let fixture = try Fixture()
    let id = try await upload(fixture)
    try await complete(fixture, id)
    #expect(try await fixture.record(id).job.action == FileAction(state: .pending))
    let due = try await fixture.store.dueFileActions(now: Fixture.at(10), limit: 10)
    #expect(
      due == [
        PendingFileAction(job: id, owner: Fixture.owner, path: "/a", action: .move(to: "/sent"), stamp: Self.stamp)
      ])
    try await fixture.store.record([.init(job: id, end: .done, message: "moved")], at: Fixture.at(11))
    #expect(try await fixture.record(id).job.action == FileAction(state: .done, message: "moved"))
    #expect(try await fixture.store.dueFileActions(now: Fixture.at(20), limit: 10).isEmpty)
    #expect(fixture.events.last?.reason == "moved" && fixture.events.last?.kind == .changed)
    // Reported again after a crash: there is no second event.
    try await fixture.store.record([.init(job: id, end: .done, message: "moved")], at: Fixture.at(12))
    #expect(fixture.events.count { $0.reason == "moved" } == 1)
  }

  @Test("an action is postponed, fails, and is requested again")
  func again() async throws {
    let fixture = try Fixture()
    let id = try await upload(fixture)
    try await complete(fixture, id)
    try await fixture.store.record(
      [.init(job: id, end: .postponed(until: Fixture.at(50)), message: "full")], at: Fixture.at(3))
    #expect(try await fixture.store.dueFileActions(now: Fixture.at(49), limit: 10).isEmpty)
    #expect(try await fixture.store.nextFileAction() == Fixture.at(50))
    #expect(try await fixture.store.dueFileActions(now: Fixture.at(50), limit: 10).first?.attempts == 1)
    try await fixture.store.record([.init(job: id, end: .failed, message: "no")], at: Fixture.at(51))
    #expect(try await fixture.record(id).job.action == FileAction(state: .failed, message: "no"))
    #expect(try await fixture.store.nextFileAction() == nil)
    try await fixture.store.retryFileActions(of: [id, JobID(99)], at: Fixture.at(60))
    #expect(try await fixture.store.dueFileActions(now: Fixture.at(60), limit: 10).map(\.job) == [id])
    #expect(try await fixture.record(id).job.action?.state == .pending)
  }

  @Test("after the clock was set back, nothing waits for longer than it was ever postponed")
  func setBack() async throws {
    let fixture = try Fixture()
    let store = fixture.store
    let ids = [try await upload(fixture), try await upload(fixture, "/b")]
    for id in ids { try await complete(fixture, id) }
    let ends = [JobID: Double](uniqueKeysWithValues: zip(ids, [350, 90_000]))
    try await store.record(
      ends.map { .init(job: $0.key, end: .postponed(until: Fixture.at($0.value)), message: "full") },
      at: Fixture.at(50))
    let longest = FollowUpWaits(fileAction: 300, remoteCleanup: 3600, delivery: 21_600)
    try await store.replanFollowUps(longest: longest, now: Fixture.at(50))
    #expect(try await store.dueFileActions(now: Fixture.at(50), limit: 10).map(\.job) == [ids[1]])
    #expect(try await store.dueFileActions(now: Fixture.at(350), limit: 10).count == 2)
  }

  @Test("an action outlives the job's removal")
  func removed() async throws {
    let fixture = try Fixture()
    let id = try await upload(fixture)
    try await complete(fixture, id)
    #expect(await fixture.store.remove([id], at: Fixture.at(3))[0].failure == nil)
    #expect(try await fixture.store.dueFileActions(now: Fixture.at(10), limit: 10).map(\.job) == [id])
    try await fixture.store.record([.init(job: id, end: .done, message: "moved")], at: Fixture.at(11))
    #expect(fixture.events.last?.to == nil)
  }

  enum Leaving: CaseIterable {
    case cancelledWhileRunning, cancelledWhilePaused, removed, failedAndRemoved, moved
  }

  @Test("an abandoned upload leaves its resume data for the remote cleanup", arguments: Leaving.allCases)
  func abandoned(_ leaving: Leaving) async throws {
    let fixture = try Fixture()
    let id = try await upload(fixture)
    let record = try await fixture.claim(id)
    _ = try await fixture.store.checkpoint(
      Checkpoint(id: id, fence: record.fence, bytesDone: 5, bytesTotal: 10, resumeData: Self.ledger), at: Fixture.at(1))
    let newer = Data("newer".utf8)
    switch leaving {
    case .cancelledWhileRunning: try await fixture.settle(record, .cancel) { $0.followUp.leftovers = newer }
    case .failedAndRemoved:
      try await fixture.settle(record, .fail) { $0.failure = Fixture.failure }
      #expect(try await fixture.store.dueRemoteCleanups(now: Fixture.at(10), limit: 10).isEmpty)
      _ = await fixture.store.remove([id], at: Fixture.at(3))
    case .cancelledWhilePaused, .removed, .moved:
      try await fixture.settle(record, .pause)
      switch leaving {
      case .cancelledWhilePaused: _ = await fixture.store.transition([id], .cancel, at: Fixture.at(3))
      case .removed: _ = await fixture.store.remove([id], at: Fixture.at(3))
      default:
        _ = try await fixture.store.update(
          id, address: AddressChange(url: "https://h/other", origin: "https://h:443", isElsewhere: true),
          at: Fixture.at(3))
        #expect(try await fixture.record(id).resumeData == nil)
      }
    }
    let due = try await fixture.store.dueRemoteCleanups(now: Fixture.at(10), limit: 10)
    let abandonment = try #require(due.first)
    #expect(due.count == 1)
    #expect(abandonment.ledger == (leaving == .cancelledWhileRunning ? newer : Self.ledger))
    #expect(abandonment.spec.url == "https://h/a" && abandonment.spec.source == "/a")
    #expect(abandonment.spec.options.headers == ["X-Key": "1"] && abandonment.spec.options.credentials == .netrc)
    try await fixture.store.postpone(abandonment, until: Fixture.at(99))
    #expect(try await fixture.store.dueRemoteCleanups(now: Fixture.at(98), limit: 10).isEmpty)
    #expect(try await fixture.store.nextRemoteCleanup() == Fixture.at(99))
    try await fixture.store.settle(abandonment, reason: "taken back", at: Fixture.at(100))
    #expect(try await fixture.store.dueRemoteCleanups(now: Fixture.at(1000), limit: 10).isEmpty)
    #expect(fixture.events.last?.reason == "taken back")
  }

  @Test("an upload without resume data needs no remote cleanup, nor does a completed one")
  func nothingLeft() async throws {
    let fixture = try Fixture()
    let one = try await upload(fixture)
    _ = await fixture.store.transition([one], .cancel, at: Fixture.at(1))
    let two = try await upload(fixture, "/b")
    try await complete(fixture, two)
    _ = await fixture.store.remove([two], at: Fixture.at(3))
    #expect(try await fixture.store.dueRemoteCleanups(now: Fixture.at(10), limit: 10).isEmpty)
  }

  @Test("bytes that a server acknowledges reset an upload's crashes")
  func crashes() async throws {
    let fixture = try Fixture()
    let id = try await upload(fixture)
    for round in 1...3 {
      let record = try await fixture.claim(id)
      try await fixture.settle(record, .requeue) { settlement in
        settlement.crashed = true
        settlement.bytesDone = 0
      }
      #expect(try await fixture.record(id).crashes == round)
    }
    let record = try await fixture.claim(id)
    _ = try await fixture.store.checkpoint(
      Checkpoint(id: id, fence: record.fence, bytesDone: 5, bytesTotal: 10), at: Fixture.at(1))
    #expect(try await fixture.record(id).crashes == 0)
  }

  @Test("a hook is stored with the job's end and contains the job", arguments: [JobEvent.complete, .fail, .pause])
  func hooks(_ event: JobEvent) async throws {
    let fixture = try Fixture()
    let id = try await upload(fixture)
    try await fixture.settle(try await fixture.claim(id), event) { settlement in
      settlement.followUp.wantsHook = true
      settlement.failure = Fixture.failure
    }
    let hooks = try await fixture.store.pendingHooks(after: 0, limit: 10)
    guard event != .pause else {
      #expect(hooks.isEmpty)
      return
    }
    let hook = try #require(hooks.first)
    #expect(hook.kind == (event == .complete ? .complete : .failure))
    let job = try WireCoding.decoder().decode(Job.self, from: Data(hook.payload.utf8))
    #expect(job == (try await fixture.record(id).job))
    _ = await fixture.store.remove([id], at: Fixture.at(4))
    try await fixture.store.settle(hook, reason: "exit 0", at: Fixture.at(5))
    #expect(try await fixture.store.pendingHooks(after: 0, limit: 10).isEmpty)
    #expect(fixture.events.last?.reason == "exit 0")
  }

  @Test("spooled files are needed until their jobs complete or are cancelled")
  func spools() async throws {
    let fixture = try Fixture()
    var ids: [JobID] = []
    for n in 0..<4 {
      var spec = UploadLineTests.upload("/\(n)", to: "https://h/\(n)")
      spec.spool = "token\(n)"
      ids.append(try await fixture.add(spec))
    }
    try await fixture.settle(try await fixture.claim(ids[0]), .complete)
    try await fixture.settle(try await fixture.claim(ids[1]), .fail) { $0.failure = Fixture.failure }
    _ = await fixture.store.transition([ids[2]], .cancel, at: Fixture.at(3))
    #expect(
      try await fixture.store.spools() == ["token0": false, "token1": true, "token2": false, "token3": true])
    #expect(try await fixture.record(ids[3]).spec.spool == "token3")
  }
}
