import Foundation
import GRDB
import Testing
import TransferAPI

@testable import Store

@Suite struct MigrationTests {
  /// Made by the last release without uploads; never to be changed.
  private func oldDatabase() throws -> String {
    let fixture = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(
      path: "Fixtures/version-1.db")
    let directory = Fixture.temporaryDirectory()
    try FileManager.default.copyItem(atPath: fixture.path, toPath: directory + "/transferd.db")
    return directory
  }

  @Test("a database of version 1 opens, and every job is what it was")
  func version1() async throws {
    let fixture = try Fixture(directory: oldDatabase())
    let jobs = try await fixture.store.jobs(limit: 100)
    #expect(jobs.map(\.job.state) == [.completed, .failed, .retrying, .paused, .cancelled, .queued])
    #expect(jobs.map(\.job.batch) == ["nightly", "nightly", "nightly", nil, nil, nil])
    #expect(jobs[0].job.key == "done" && jobs[0].job.bytesDone == 1000)
    #expect(jobs[1].spec.headers == ["Authorization": "Bearer old-secret", "X-Plain": "1"])
    #expect(jobs[1].job.error?.code == .http(404))
    #expect(jobs[2].spec.credentials?.password == "pw" && jobs[2].job.priority == 5)
    #expect(jobs[3].job.checksum == "md5=d41d8cd98f00b204e9800998ecf8427e")
    #expect(jobs.allSatisfy { $0.spec.owner == geteuid() })
    #expect(jobs.allSatisfy { $0.follows == nil && $0.job.action == nil && $0.spec.upload == UploadOptions() })
    #expect(try await fixture.store.batch("nightly")?.batch.counts.total == 3)
    #expect(try await fixture.store.events(since: 0, limit: 100).count == 19)
    let version = try await fixture.store.read { db in try Int.fetchOne(db, sql: "PRAGMA user_version") }
    #expect(version == 3)
  }

  @Test("its jobs are claimed, retried and removed as ever, and uploads join them")
  func goesOn() async throws {
    let fixture = try Fixture(directory: oldDatabase())
    let candidates = try await fixture.store.candidates(
      now: Date(timeIntervalSince1970: 2_000_000_000), excludingOrigins: [], limit: 10)
    #expect(candidates.map(\.id) == [JobID(3), JobID(6)])
    let record = try await fixture.claim(JobID(6))
    try await fixture.settle(record, .complete)
    #expect(await fixture.store.remove([JobID(1)], at: Fixture.epoch)[0].failure == nil)
    let upload = JobSpec(owner: 0, uploading: "/a", to: "https://example.org/a", origin: "https://example.org:443")
    #expect(try await fixture.add(upload) == JobID(7))
  }

  @Test("opening it twice changes nothing more")
  func twice() async throws {
    let directory = try oldDatabase()
    let store = try Store(directory: directory, now: Fixture.epoch) { _ in }
    await store.close()
    let fixture = try Fixture(directory: directory)
    #expect(try await fixture.store.counts().total == 6)
  }

  @Test("batches and keys of before belong to the daemon's owner, and others may have the same names")
  func owners() async throws {
    let fixture = try Fixture(directory: oldDatabase())
    let store = fixture.store
    #expect(try await store.batches(in: .owner(Fixture.owner)).map(\.name) == ["nightly"])
    #expect(try await store.job(key: "done", owner: Fixture.owner)?.job.id == 1)
    #expect(try await store.events(since: 0, limit: 100, in: .owner(Fixture.owner)).count == 19)
    let counts = try await store.counts(in: .owner(Fixture.owner))
    var spec = Fixture.spec(1)
    spec.owner = 41_002
    spec.batch = "nightly"
    spec.key = "done"
    #expect(try await fixture.add(spec) == 7)
    #expect(try await store.counts(in: .owner(Fixture.owner)) == counts)
    #expect(try await store.counts(in: .owner(41_002)).queued == 1)
    // The constraints are as they would be in a new database, and the file is sound.
    let facts = try await store.read { db in
      try [
        "SELECT group_concat(\"from\" || ' ' || \"table\" || ' ' || \"to\", '; ') FROM pragma_foreign_key_list('job')",
        "SELECT integrity_check FROM pragma_integrity_check", "SELECT count(*) FROM pragma_foreign_key_check",
      ].map { try String.fetchOne(db, sql: $0) }
    }
    #expect(facts == ["batch batch name; owner batch owner; origin_id origin id", "ok", "0"])
  }

  @Test("a long queue of version 2 migrates in seconds, by constant work for each row")
  func longQueue() async throws {
    let count = 200_000
    let directory = Fixture.temporaryDirectory()
    let queue = try DatabaseQueue(path: directory + "/transferd.db", configuration: DatabaseFile.configuration)
    try Migrations.migrator(owner: Fixture.owner).migrate(queue, upTo: "2")
    try await queue.write { db in
      try Meta.create(db, storeID: "00000000", now: Fixture.epoch)
      try db.execute(
        sql: """
          INSERT INTO origin (id, name, updated_at) VALUES (1, 'http://h:80', 0);
          INSERT INTO batch (name, created_at) VALUES ('b', 0);
          INSERT INTO job (kind, state, source, destination, origin_id, replace, create_directories,
            name_from_response, priority, max_attempts, part_token, created_at, batch, key)
          SELECT 'download', 'queued', 'http://h/' || value, '/d/' || value, 1, 0, 0, 0, 0, 20, '00000000', 0,
            CASE WHEN value % 2 THEN 'b' END, 'k' || value
          FROM (
            WITH RECURSIVE number (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM number WHERE value < \(count))
            SELECT value FROM number);
          INSERT INTO event (job, at, kind, to_state) SELECT id, 0, 'added', 'queued' FROM job;
          """)
    }
    try queue.close()
    let start = ContinuousClock.now
    let fixture = try Fixture(directory: directory)
    let duration = ContinuousClock.now - start
    print("\(count) jobs migrated in \(duration)")
    #expect(try await fixture.store.counts(in: .owner(Fixture.owner)).queued == count)
    #expect(try await fixture.store.batch("b")?.batch.counts.queued == count / 2)
    // About 1 s where nothing else runs; this machine may be busy with other tests.
    #expect(duration < .seconds(30))
  }
}
