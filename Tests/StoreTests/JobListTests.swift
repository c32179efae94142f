import FoundationEssentials
import Testing
import TransferAPI

@testable import Store

@Suite struct JobListTests {
  private let folder = FileManager.default.temporaryDirectory.path + "/list-\(UUID().uuidString)"

  private func store(_ specs: [JobSpec]) async throws -> Store {
    let store = try Store(directory: folder, now: Date(timeIntervalSince1970: 0)) { _ in }
    for result in await store.submit(specs, in: .everything, at: Date(timeIntervalSince1970: 1)) {
      _ = try result.get()
    }
    return store
  }

  private func spec(_ number: Int, owner: UInt32 = 1) -> JobSpec {
    var spec = JobSpec(owner: owner, url: "http://h/\(number)", origin: "http://h:80", destination: "/d/\(number)")
    spec.priority = [0, 5, -3][number % 3]
    spec.paused = number % 4 == 0
    if number % 2 == 0 { spec.batch = "b" }
    if number % 5 == 0 {
      spec.source += "?token=secret"
      spec.credentials = .init(username: "u", password: "p")
    }
    if number % 7 == 0 {
      spec.options.maxAttempts = 3
      spec.options.download.checksum = "md5=00"
    }
    return spec
  }

  private func all(
    _ store: Store, state: JobState? = nil, batch: BatchID? = nil, order: JobOrder, page: Int,
    in scope: Scope = .everything
  ) async throws -> [Job] {
    var (jobs, cursor): ([Job], JobListCursor?) = ([], nil)
    repeat {
      let next = try await store.jobList(state: state, batch: batch, order: order, from: cursor, limit: page, in: scope)
      jobs += next.jobs.map(\.job)
      cursor = next.next
    } while cursor != nil
    return jobs
  }

  @Test(
    "every order and filter lists the jobs of the records, whatever the size of its pages", arguments: [1, 3, 7, 1000])
  func orders(_ page: Int) async throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let store = try await store((0..<40).map { spec($0, owner: $0 < 30 ? 1 : 2) })
    for scope in [Scope.everything, .owner(1)] {
      for state in [nil, JobState.paused, .queued, .failed] {
        for batch in [nil, BatchID(owner: 1, name: "b")] {
          let jobs = try await store.jobs(state: state, batch: batch, limit: 1000, in: scope).map(\.job)
          func listed(_ order: JobOrder) async throws -> [Job] {
            try await all(store, state: state, batch: batch, order: order, page: page, in: scope)
          }
          #expect(try await listed(.id) == jobs)
          #expect(try await listed(.newest) == jobs.reversed())
          #expect(try await listed(.priority) == jobs.sorted { ($1.priority, $0.id) < ($0.priority, $1.id) })
        }
      }
    }
    #expect(try await all(store, batch: BatchID(owner: 2, name: "b"), order: .id, page: page, in: .owner(1)).isEmpty)
    await store.close()
  }
}
