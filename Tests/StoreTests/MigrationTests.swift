import Foundation
import GRDB
import Testing
import TransferAPI

@testable import Store

@Suite struct MigrationTests {
  /// The database of the last release without uploads. It must never change.
  private func oldDatabase() throws -> String {
    let fixture = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(
      path: "Fixtures/version-1.db")
    let directory = Fixture.temporaryDirectory()
    try FileManager.default.copyItem(atPath: fixture.path, toPath: directory + "/transferd.db")
    return directory
  }

  @Test("a database of version 1 opens, and every job is unchanged")
  func version1() async throws {
    let fixture = try Fixture(directory: oldDatabase())
    let jobs = try await fixture.store.jobs(limit: 100)
    #expect(jobs.map(\.job.state) == [.completed, .failed, .retrying, .paused, .cancelled, .queued])
    #expect(jobs.map(\.job.batch) == ["nightly", "nightly", "nightly", nil, nil, nil])
    #expect(jobs[0].job.key == "done" && jobs[0].job.bytesDone == 1000)
    #expect(jobs[1].spec.options.headers == ["Authorization": "Bearer old-secret", "X-Plain": "1"])
    #expect(jobs[1].job.error?.code == .http(404))
    #expect(jobs[2].spec.credentials?.password == "pw" && jobs[2].job.priority == 5)
    #expect(jobs[3].job.checksum == "md5=d41d8cd98f00b204e9800998ecf8427e")
    #expect(jobs.allSatisfy { $0.spec.owner == geteuid() })
    #expect(
      jobs.allSatisfy { $0.blockedBy == nil && $0.job.action == nil && $0.spec.options.upload == JobOptions.Upload() })
    #expect(try await fixture.store.batch("nightly")?.batch.counts.total == 3)
    #expect(try await fixture.store.events(since: 0, limit: 100).count == 19)
    let version = try await fixture.store.read { db in try Int.fetchOne(db, sql: "PRAGMA user_version") }
    #expect(version == 13)
  }

  @Test("its jobs can be claimed, retried and removed, and uploads can be added")
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

  @Test("opening it again changes nothing")
  func twice() async throws {
    let directory = try oldDatabase()
    let store = try Store(directory: directory, now: Fixture.epoch) { _ in }
    await store.close()
    let fixture = try Fixture(directory: directory)
    #expect(try await fixture.store.counts().total == 6)
  }

  @Test("existing batches and keys belong to the daemon's user, and other users may have the same names")
  func owners() async throws {
    let fixture = try Fixture(directory: oldDatabase())
    let store = fixture.store
    #expect(try await store.batches(in: .owner(Fixture.owner)).map(\.name) == ["nightly"])
    #expect(try await store.jobs(keys: ["done"], owner: Fixture.owner)["done"]?.job.id == 1)
    #expect(try await store.events(since: 0, limit: 100, in: .owner(Fixture.owner)).count == 19)
    let counts = try await store.counts(in: .owner(Fixture.owner))
    var spec = Fixture.spec(1)
    spec.owner = 41_002
    spec.batch = "nightly"
    spec.key = "done"
    #expect(try await fixture.add(spec) == 7)
    #expect(try await store.counts(in: .owner(Fixture.owner)) == counts)
    #expect(try await store.counts(in: .owner(41_002)).queued == 1)
    // The constraints are those of a new database, and the file is sound.
    let facts = try await store.read { db in
      try [
        "SELECT group_concat(\"from\" || ' ' || \"table\" || ' ' || \"to\", '; ') FROM pragma_foreign_key_list('job')",
        "SELECT integrity_check FROM pragma_integrity_check", "SELECT count(*) FROM pragma_foreign_key_check",
      ].map { try String.fetchOne(db, sql: $0) }
    }
    #expect(facts == ["batch batch name; owner batch owner; origin_id origin id", "ok", "0"])
  }

  /// A database of version 3 with one job of each kind, written as that release did.
  private func version3(jobs: Int = 0, _ statements: String = "") throws -> String {
    let directory = Fixture.temporaryDirectory()
    let queue = try DatabaseQueue(path: directory + "/transferd.db", configuration: DatabaseFile.configuration)
    try Migrations.migrator(owner: Fixture.owner).migrate(queue, upTo: "3")
    try queue.write { db in
      try Meta.create(db, storeID: "00000000", now: Fixture.epoch)
      try db.execute(
        sql: """
          INSERT INTO origin (id, name, updated_at) VALUES (1, 'http://h:80', 0);
          INSERT INTO batch (name, owner, created_at) VALUES ('b', \(Fixture.owner), 0);
          \(statements)
          INSERT INTO job (kind, state, source, destination, origin_id, replace, create_directories,
            name_from_response, priority, max_attempts, part_token, created_at, batch, key, owner, checksum, options)
          SELECT 'download', 'queued', 'http://h/' || value, '/d/' || value, 1, value % 2, 0, 0, 0, 20, '00000000', 0,
            CASE WHEN value % 2 THEN 'b' END, 'k' || value, \(Fixture.owner),
            CASE WHEN value % 3 = 0 THEN 'sha-1=' || printf('%040d', value) END,
            CASE WHEN value % 10 = 0 THEN '{"headers":{"X-Trace":"1"}}' END
          FROM (
            WITH RECURSIVE number (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM number WHERE value < \(jobs))
            SELECT value FROM number) WHERE \(jobs) > 0;
          """)
    }
    try queue.close()
    return directory
  }

  @Test("version 4 keeps every option of version 3")
  func options() async throws {
    let directory = try version3(
      """
      INSERT INTO job (id, kind, state, source, destination, origin_id, replace, create_directories, name_from_response,
        priority, max_attempts, part_token, created_at, owner, checksum, options, limit_rate, connect_timeout,
        stall_timeout, batch)
      VALUES
        (7, 'download', 'paused', 'http://h/a', '/d/', 1, 1, 1, 1, 3, 5, '00000000', 0, \(Fixture.owner),
          'md5=d41d8cd98f00b204e9800998ecf8427e', '{"credentials":"netrc","headers":{"X":"1"}}', 1024, 2.5, 60, 'b'),
        (8, 'upload', 'queued', '/a', 'http://h/b', 1, 0, 0, 0, 0, 20, '00000000', 0, \(Fixture.owner), NULL,
          '{"headers":{"Y":"2"},"upload":{"form":["file=@","a=b"],"onSuccess":"move=/sent","protocol":"form"}}',
          NULL, NULL, NULL, NULL),
        (9, 'upload', 'queued', '/a', 'http://h/b', 1, 0, 0, 0, 0, 20, '00000000', 0, \(Fixture.owner), NULL, NULL,
          NULL, NULL, NULL, NULL),
        (12, 'download', 'queued', 'http://h/c', '/d/c', 1, 0, 0, 0, 0, 20, '00000000', 0, \(Fixture.owner), NULL,
          'no JSON', NULL, NULL, NULL, NULL);
      UPDATE job SET follows = 8 WHERE id = 9;
      INSERT INTO attempt (job, number, started_at) VALUES (7, 1, 0);
      INSERT INTO abandonment (job, source, destination, origin, options, ledger, created_at, next_at, owner)
        VALUES (3, '/x', 'http://h/x', 'http://h:80', '{"headers":{"Z":"3"},"upload":{"protocol":"tus"}}', x'7b7d', 0, 0, 5);
      INSERT INTO abandonment (job, source, destination, origin, ledger, tries, created_at, next_at, owner)
        VALUES (4, '/x', 'http://h/x', 'http://h:80', x'7b7d', 2, 0, 0, 5);
      DELETE FROM job WHERE id = 12;
      """)
    let fixture = try Fixture(directory: directory)
    let record = try await fixture.record(7)
    var expected = JobOptions()
    expected.credentials = .netrc
    expected.headers = ["X": "1"]
    expected.limitRate = 1024
    expected.connectTimeout = 2.5
    expected.stallTimeout = 60
    expected.maxAttempts = 5
    expected.download.replace = true
    expected.download.createDirectories = true
    expected.download.nameFromResponse = true
    expected.download.checksum = "md5=d41d8cd98f00b204e9800998ecf8427e"
    #expect(record.spec.options == expected)
    #expect(record.job.maxAttempts == 5 && record.job.checksum == expected.download.checksum)
    let upload = try await fixture.record(8).spec.options
    #expect(upload.headers == ["Y": "2"] && upload.maxAttempts == 20)
    #expect(upload.upload.form.map(\.description) == ["file=@", "a=b"] && upload.upload.uploadProtocol == .form)
    #expect(upload.onSuccess == .move(to: "/sent"))
    #expect(try await fixture.record(9).blockedBy == 8)
    #expect(try await fixture.store.detail(7)?.attempts.count == 1)
    let cleanups = try await fixture.store.dueRemoteCleanups(now: Fixture.epoch, limit: 10)
    #expect(cleanups.map(\.attempts) == [0, 2] && cleanups[0].spec.options.headers == ["Z": "3"])
    #expect(cleanups[0].spec.options.upload.uploadProtocol == .tus && cleanups[1].spec.options == JobOptions())
    // Ids of removed jobs are not used again.
    #expect(try await fixture.add(Fixture.spec(1)) == 13)
    #expect(try await fixture.store.counts() == fixture.countedByHand()[""])
  }

  @Test("a migrated database has the schema of a new one")
  func schema() async throws {
    func schema(_ fixture: Fixture) async throws -> Set<String> {
      try await fixture.store.read { db in
        Set(
          try String.fetchAll(db, sql: "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL").map { sql in
            sql.replacing("\"", with: "").split(whereSeparator: \.isWhitespace).joined(separator: " ")
          })
      }
    }
    let migrated = try Fixture(directory: version3(jobs: 3))
    let new = try Fixture()
    #expect(try await schema(migrated) == schema(new))
  }

  @Test("too little space for a migration is an error before anything is changed")
  func space() throws {
    let directory = try version3(jobs: 1)
    let path = directory + "/transferd.db"
    let before = try Data(contentsOf: URL(fileURLWithPath: path))
    var file = DatabaseFile(directory: directory, owner: Fixture.owner, freeBytes: { _ in 1 << 20 })
    let error = #expect(throws: StoreError.self) { _ = try file.prepare(storeID: "00000000", now: Fixture.epoch) }
    #expect(
      error?.description.contains("needs 16 MiB of free space on its disk, and 1 MiB are free") == true, "\(error!)")
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    file.freeBytes = { _ in 1 << 30 }
    #expect(try file.prepare(storeID: "00000000", now: Fixture.epoch) == nil)
  }

  @Test("a migration is announced with the number of jobs, once")
  func announced() async throws {
    let directory = try version3(jobs: 3)
    let (migrations, announce) = AsyncStream<PendingMigration>.makeStream()
    for _ in 0..<2 {
      let store = try Store(directory: directory, now: Fixture.epoch, onMigration: { announce.yield($0) }) { _ in }
      await store.close()
    }
    announce.finish()
    var all: [PendingMigration] = []
    for await migration in migrations { all.append(migration) }
    #expect(all == [PendingMigration(from: 3, to: 13, jobs: 3)])
  }

  @Test("a long queue of version 3 migrates in seconds, by constant work for each row")
  func longQueue() async throws {
    let count = ProcessInfo.processInfo.environment["TRANSFERD_MEASURE"] == nil ? 100_000 : 1_000_000
    let directory = try version3(jobs: count)
    let start = ContinuousClock.now
    let fixture = try Fixture(directory: directory)
    let duration = ContinuousClock.now - start
    print("\(count) jobs migrated in \(duration)")
    #expect(try await fixture.store.counts(in: .owner(Fixture.owner)).queued == count)
    #expect(try await fixture.store.batch("b")?.batch.counts.queued == count / 2)
    #expect(try await fixture.record(30).job.checksum == "sha-1=" + String(repeating: "0", count: 38) + "30")
    // A few seconds on a machine that is not busy with other tests.
    #expect(duration < .seconds(60))
  }
}
