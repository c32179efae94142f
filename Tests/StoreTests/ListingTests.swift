import Foundation
import GRDB
import Testing
import TransferAPI

@testable import Store

@Suite struct ListingTests {
  private func spec(_ batch: String? = nil) -> JobSpec {
    var spec = JobSpec(
      owner: Fixture.owner, url: "https://example.org/d/", origin: "https://example.org:443", destination: "/d/")
    spec.kind = .listing
    spec.batch = batch
    return spec
  }

  /// A file of a listing.
  private func file(_ path: String, of record: JobRecord) -> JobSpec {
    var spec = JobSpec(
      owner: Fixture.owner, url: "https://example.org/d/\(path)", origin: "https://example.org:443",
      destination: "/d/\(path)")
    (spec.batch, spec.listing) = (record.spec.batch, record.job.id)
    return spec
  }

  private func directories(_ fixture: Fixture) async throws -> Int {
    try await fixture.store.read { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM listing_directory") ?? -1 }
  }

  @Test("a listing without a batch makes one with its id, and comes back as it was")
  func batch() async throws {
    let fixture = try Fixture()
    try await fixture.add(Fixture.spec(1))
    let id = try await fixture.add(spec())
    #expect(try await fixture.record(id).job.batch == "listing-\(id)")
    #expect(try await fixture.record(id).job.kind == .listing)
    #expect(try await fixture.record(id).spec.url == "https://example.org/d/")
    let named = try await fixture.add(spec("mine"))
    #expect(try await fixture.record(named).job.batch == "mine")
  }

  @Test("a directory is listed until it is done, in the order in which directories were found, page by page")
  func directories() async throws {
    let fixture = try Fixture()
    let record = try await fixture.claim(try await fixture.add(spec()))
    let store = fixture.store
    let (id, fence) = (record.job.id, record.fence)
    let root = try #require(try await store.nextDirectory(of: id, fence: fence, after: 0))
    #expect(root.path == "" && root.page == nil && root.depth == 0)
    var step = ListingStep(job: id, fence: fence, directory: root.id)
    step.directories = ["x", "y", "x"]
    step.end = .init(page: "more", files: 2, refused: 1)
    _ = try await store.store(step, at: Fixture.at(2))
    let again = try #require(try await store.nextDirectory(of: id, fence: fence, after: 0))
    #expect(again.id == root.id && again.page == "more")
    step.directories = ["x/z"]
    step.end = .init(page: nil, files: 3, refused: 0)
    _ = try await store.store(step, at: Fixture.at(2))
    var found: [String] = []
    var last: Int64 = 0
    while let next = try await store.nextDirectory(of: id, fence: fence, after: last) {
      found.append("\(next.path) \(next.depth)")
      last = next.id
    }
    #expect(found == ["x 1", "y 1", "x/z 2"])
    var sums = ListingSums()
    (sums.directories, sums.files, sums.refused) = (1, 5, 1)
    #expect(try await store.listingSums(of: id) == sums)
  }

  @Test("a file is added once by its listing, and a file that another download writes is left to it")
  func files() async throws {
    let fixture = try Fixture()
    let record = try await fixture.claim(try await fixture.add(spec()))
    let root = try #require(try await fixture.store.nextDirectory(of: record.job.id, fence: record.fence, after: 0))
    var step = ListingStep(job: record.job.id, fence: record.fence, directory: root.id)
    step.files = [file("a", of: record), file("b", of: record), file("a", of: record)]
    let first = try await fixture.store.store(step, at: Fixture.at(2))
    #expect(first.added.count == 2 && first.taken == 0)
    // The same part of the directory, after a crash; one of its files has been fetched meanwhile.
    try await fixture.settle(fixture.claim(first.added[0].id), .complete)
    step.files.append(file("c", of: record))
    let second = try await fixture.store.store(step, at: Fixture.at(3))
    #expect(second.added.count == 1 && second.taken == 0)
    let other = try await fixture.claim(try await fixture.add(spec()))
    let otherRoot = try #require(try await fixture.store.nextDirectory(of: other.job.id, fence: other.fence, after: 0))
    var otherStep = ListingStep(job: other.job.id, fence: other.fence, directory: otherRoot.id)
    otherStep.files = [file("a", of: other), file("b", of: other), file("d", of: other)]
    otherStep.end = .init(page: nil, files: 3, refused: 0)
    let third = try await fixture.store.store(otherStep, at: Fixture.at(4))
    #expect(third.added.count == 2 && third.taken == 1)
    let sums = try await fixture.store.listingSums(of: other.job.id)
    #expect(sums.files == 2 && sums.refused == 1)
  }

  @Test("a listing that lost its claim stores nothing")
  func fence() async throws {
    let fixture = try Fixture()
    let record = try await fixture.claim(try await fixture.add(spec()))
    let root = try #require(try await fixture.store.nextDirectory(of: record.job.id, fence: record.fence, after: 0))
    var step = ListingStep(job: record.job.id, fence: record.fence + 1, directory: root.id)
    step.files = [file("a", of: record)]
    step.directories = ["x"]
    step.end = .init(page: nil, files: 1, refused: 0)
    let (lost, store) = (StoreError.notFound(record.job.id), fixture.store)
    do throws(StoreError) {
      _ = try await store.store(step, at: Fixture.at(2))
      Issue.record("stored")
    } catch {
      #expect(error == lost)
    }
    #expect(try await directories(fixture) == 1)
    #expect(try await fixture.store.jobs(limit: 10, in: .everything).count == 1)
    try await fixture.settle(record, .requeue)
    do throws(StoreError) {
      _ = try await store.nextDirectory(of: record.job.id, fence: record.fence, after: 0)
      Issue.record("listed")
    } catch {
      #expect(error == lost)
    }
  }

  @Test("the directories of a listing are forgotten when it has completed or is removed, not when it fails")
  func forgotten() async throws {
    let fixture = try Fixture()
    for (event, kept) in [(JobEvent.fail, 1), (.complete, 0)] {
      let record = try await fixture.claim(try await fixture.add(spec()))
      _ = try await fixture.store.nextDirectory(of: record.job.id, fence: record.fence, after: 0)
      try await fixture.settle(record, event) { if event == .fail { $0.failure = Fixture.failure } }
      #expect(try await directories(fixture) == kept)
      #expect(await fixture.store.remove([record.job.id], at: Fixture.at(5))[0].failure == nil)
      #expect(try await directories(fixture) == 0)
    }
  }
}
