import Foundation
import GRDB
import Testing
import TransferAPI
import WireValues

@testable import Store

/// The records of fetched files, by which `ifChanged` knows what is at a path.
@Suite struct FileRecordTests {
  private static let one = Data("one".utf8)
  private static let two = Data("two".utf8)

  private static func spec(_ n: Int, owner: UInt32 = Fixture.owner, query: String = "") -> JobSpec {
    var spec = JobSpec(
      owner: owner, url: "https://example.org/\(n)\(query)", origin: "https://example.org:443", destination: "/d/\(n)")
    spec.options.download.ifChanged = true
    return spec
  }

  /// Runs a job to its end, with what is known of its file.
  private static func complete(_ spec: JobSpec, _ record: Data?, in fixture: Fixture, at time: Double = 2) async throws
  {
    let claimed = try await fixture.claim(fixture.add(spec))
    try await fixture.settle(claimed, .complete, at: time) { $0.fileRecord = record }
  }

  /// What the next job of the same kind knows.
  private static func known(_ spec: JobSpec, in fixture: Fixture) async throws -> [Data] {
    let record = try await fixture.claim(fixture.add(spec))
    _ = try await fixture.settle(record, .cancel)
    return record.fileRecords
  }

  private static func count(_ fixture: Fixture) async throws -> Int {
    try await fixture.store.read { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM file_record") ?? -1 }
  }

  @Test("a record outlives its job, and belongs to its URL without secrets, path and owner")
  func key() async throws {
    let fixture = try Fixture()
    try await Self.complete(Self.spec(1, query: "?token=s3cret"), Self.one, in: fixture)
    #expect(await fixture.store.remove([1], at: Fixture.at(3))[0].failure == nil)
    #expect(try await Self.known(Self.spec(1, query: "?token=other"), in: fixture) == [Self.one])
    #expect(try await Self.known(Self.spec(1, owner: 41_002, query: "?token=s3cret"), in: fixture).isEmpty)
    #expect(try await Self.known(Self.spec(1, query: "?page=2"), in: fixture).isEmpty)
    #expect(try await Self.known(Self.spec(2), in: fixture).isEmpty)
    var elsewhere = Self.spec(1, query: "?token=x")
    elsewhere.destination = "/d/elsewhere"
    #expect(try await Self.known(elsewhere, in: fixture).isEmpty)
    var ordinary = Self.spec(1, query: "?token=x")
    ordinary.options.download.ifChanged = false
    #expect(try await Self.known(ordinary, in: fixture).isEmpty)
    let stored = try await fixture.store.read { db in try String.fetchAll(db, sql: "SELECT url FROM file_record") }
    #expect(stored.count == 1 && !stored[0].contains("s3cret"))
  }

  @Test("a new version replaces the record; the same one is written again only after a day")
  func change() async throws {
    let fixture = try Fixture()
    func usedAt() async throws -> Int64? {
      try await fixture.store.read { db in try Int64.fetchOne(db, sql: "SELECT used_at FROM file_record") }
    }
    try await Self.complete(Self.spec(1), Self.one, in: fixture, at: 10)
    try await Self.complete(Self.spec(1), Self.one, in: fixture, at: 86_000)
    #expect(try await usedAt() == Fixture.at(10).milliseconds)
    try await Self.complete(Self.spec(1), Self.one, in: fixture, at: 86_411)
    #expect(try await usedAt() == Fixture.at(86_411).milliseconds)
    try await Self.complete(Self.spec(1), Self.two, in: fixture, at: 86_412)
    #expect(try await Self.known(Self.spec(1), in: fixture) == [Self.two])
    // A job without a record, such as one that was found complete after a kill by an earlier release, changes nothing.
    try await Self.complete(Self.spec(1), nil, in: fixture, at: 86_413)
    #expect(try await Self.known(Self.spec(1), in: fixture) == [Self.two])
    #expect(try await Self.count(fixture) == 1)
  }

  @Test("only a completed job leaves a record", arguments: [JobEvent.fail, .postpone, .requeue, .pause, .cancel])
  func onlyCompleted(_ event: JobEvent) async throws {
    let fixture = try Fixture()
    try await fixture.settle(fixture.claim(fixture.add(Self.spec(1))), event) { $0.fileRecord = Self.one }
    #expect(try await Self.count(fixture) == 0)
  }

  @Test("what is known of a file before its rename is known to the next attempt, until the job ends")
  func finishing() async throws {
    let fixture = try Fixture()
    try await Self.complete(Self.spec(1), Self.one, in: fixture)
    let id = try await fixture.add(Self.spec(1))
    let first = try await fixture.claim(id)
    let checkpoint = Checkpoint(
      id: id, fence: first.fence, bytesDone: 5, bytesTotal: 5, finishing: FileIdentity(device: 1, inode: 2),
      finishingRecord: Self.two)
    #expect(try await fixture.store.checkpoint(checkpoint, at: Fixture.at(3)))
    // The daemon is killed here. The table still describes the old file.
    #expect(try await fixture.record(id).finishingRecord == Self.two)
    try await fixture.settle(first, .requeue) { $0.crashed = true }
    let second = try await fixture.claim(id)
    #expect(second.fileRecords == [Self.two, Self.one])
    try await fixture.settle(second, .complete) { $0.fileRecord = Self.two }
    #expect(try await fixture.record(id).finishingRecord == nil)
    #expect(try await Self.known(Self.spec(1), in: fixture) == [Self.two])
  }

  @Test("unused records are found page by page, each once, and removed only if they are still the same")
  func unused() async throws {
    let fixture = try Fixture()
    for n in 0..<23 {
      try await Self.complete(Self.spec(n), Self.one, in: fixture, at: n % 2 == 0 ? 10 : 1000)
    }
    var (found, last): ([StoredFileRecord], StoredFileRecord?) = ([], nil)
    var pages = 0
    repeat {
      let page = try await fixture.store.unusedFileRecords(since: Fixture.at(100), after: last, scanned: 5)
      found += page.unused
      last = page.last
      pages += 1
    } while last != nil && pages < 100
    #expect(pages == 6 && found.count == 12 && Set(found.map(\.path)).count == 12)
    try await Self.complete(Self.spec(0), Self.two, in: fixture, at: 2000)
    #expect(try await fixture.store.removeFileRecords(found) == 11)
    #expect(try await Self.count(fixture) == 12)
    #expect(try await Self.known(Self.spec(0), in: fixture) == [Self.two])
  }

  @Test("too many records: those go that were not used for the longest time")
  func limit() async throws {
    let fixture = try Fixture()
    for n in 0..<10 { try await Self.complete(Self.spec(n), Self.one, in: fixture, at: Double(10 + n)) }
    #expect(try await fixture.store.limitFileRecords(to: 10) == 0)
    #expect(try await fixture.store.limitFileRecords(to: 7) == 3)
    #expect(try await fixture.store.limitFileRecords(to: 7) == 0)
    #expect(try await Self.known(Self.spec(2), in: fixture).isEmpty)
    #expect(try await Self.known(Self.spec(3), in: fixture) == [Self.one])
  }
}
