import Foundation
import Testing
import TransferAPI

@testable import Store

@Suite struct UploadLineTests {
  static func upload(_ path: String, to url: String = "https://h/x") -> JobSpec {
    JobSpec(owner: Fixture.owner, uploading: path, to: url, origin: "https://h:443")
  }

  private func candidates(_ fixture: Fixture) async throws -> [JobID] {
    try await fixture.store.candidates(now: Fixture.at(1000), excludingOrigins: [], limit: 10).map(\.id)
  }

  @Test("uploads to one URL run one after the other in the order of their ids")
  func order() async throws {
    let fixture = try Fixture()
    let answers = await fixture.store.submit(
      [Self.upload("/a"), Self.upload("/b"), Self.upload("/c"), Self.upload("/d", to: "https://h/y")], at: Fixture.epoch
    )
    let ids = try answers.map { try $0.get().id }
    #expect(try answers.map { try $0.get().blockedBy } == [nil, ids[0], ids[1], nil])
    #expect(try await fixture.store.blockers() == [ids[0], ids[1]])
    #expect(try await candidates(fixture) == [ids[0], ids[3]])
    // No upload overtakes another.
    #expect(try await fixture.store.claim([ids[1]], at: Fixture.at(1)).isEmpty)
    try await fixture.settle(try await fixture.claim(ids[0]), .complete)
    #expect(try await candidates(fixture) == [ids[1], ids[3]])
    let second = try await fixture.claim(ids[1])
    #expect(try await candidates(fixture) == [ids[3]])
    try await fixture.settle(second, .postpone) { $0.failure = Fixture.failure }
    #expect(try await candidates(fixture) == [ids[1], ids[3]])
    try await fixture.settle(try await fixture.claim(ids[1]), .fail) { $0.failure = Fixture.failure }
    #expect(try await candidates(fixture) == [ids[2], ids[3]])
  }

  @Test("when an upload leaves the line, the next one follows")
  func leaving() async throws {
    let fixture = try Fixture()
    let ids = try await fixture.store.submit((0..<4).map { Self.upload("/\($0)") }, at: Fixture.epoch)
      .map { try $0.get().id }
    _ = await fixture.store.transition([ids[1]], .cancel, at: Fixture.at(1))
    #expect(try await fixture.record(ids[2]).blockedBy == ids[0])
    _ = await fixture.store.remove([ids[2]], at: Fixture.at(2))
    #expect(try await fixture.record(ids[3]).blockedBy == ids[0])
    _ = await fixture.store.remove([ids[0]], at: Fixture.at(3))
    #expect(try await fixture.record(ids[3]).blockedBy == nil)
    // Tried again, it goes to the end.
    _ = await fixture.store.transition([ids[1]], .retry, at: Fixture.at(4))
    #expect(try await fixture.record(ids[1]).blockedBy == ids[3])
    #expect(try await candidates(fixture) == [ids[3]])
  }

  @Test("a paused upload keeps its place")
  func paused() async throws {
    let fixture = try Fixture()
    let ids = try await fixture.store.submit([Self.upload("/a"), Self.upload("/b")], at: Fixture.epoch)
      .map { try $0.get().id }
    _ = await fixture.store.transition([ids[0]], .pause, at: Fixture.at(1))
    #expect(try await candidates(fixture).isEmpty)
    _ = await fixture.store.transition([ids[0]], .resume, at: Fixture.at(2))
    #expect(try await candidates(fixture) == [ids[0]])
  }

  @Test("each URL has its own line, and a retry that waits in a line is not due")
  func otherURL() async throws {
    let fixture = try Fixture()
    let ids = try await fixture.store.submit(
      [Self.upload("/a"), Self.upload("/b"), Self.upload("/c", to: "https://h/y")], at: Fixture.epoch
    ).map { try $0.get().id }
    try await fixture.settle(try await fixture.claim(ids[2]), .postpone) { $0.failure = Fixture.failure }
    _ = try await fixture.store.update(
      ids[2], address: AddressChange(url: "https://h/x", origin: "https://h:443"), at: Fixture.at(3))
    #expect(try await fixture.record(ids[2]).blockedBy == ids[1])
    #expect(try await candidates(fixture) == [ids[0]])
    #expect(try await fixture.store.waitingTimes(now: Fixture.at(-1000)).nextRetry == nil)
    _ = try await fixture.store.update(
      ids[1], address: AddressChange(url: "https://h/z", origin: "https://h:443"), at: Fixture.at(4))
    #expect(try await fixture.record(ids[2]).blockedBy == ids[0])
    #expect(try await candidates(fixture) == [ids[0], ids[1]])
  }
}
