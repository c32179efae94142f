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
}
