import Foundation
import Store
import TestSupport
import Testing

@testable import TransferEngine
@testable import transferd

@Suite struct JobJournalTests {
  private struct World {
    let directory: TemporaryDirectory
    let store: Store
    let record: JobRecord
    /// Whether the row already named the file to be renamed when the slot was released.
    let slot = Watched<[Bool]>([])
    /// What was reported when the slot was released.
    let transfers = Watched<[FinishedTransfer]>([])
    /// The number of reports of a large file.
    let large = Watched(0)

    init() async throws {
      directory = try TemporaryDirectory()
      store = try Store(directory: directory.path("state"), now: Date(), onEvents: { _ in })
      let spec = JobSpec(owner: 0, url: "http://h/x", origin: "http://h:80", destination: "/d/x")
      let id = try await store.submit([spec], in: .everything, at: Date())[0].get().id
      record = try await store.claim([id], at: Date())[0]
    }

    func journal(fence: Int64) -> JobJournal {
      let (store, slot, transfers, large, id) = (store, slot, transfers, large, record.job.id)
      let reports = AttemptReports(
        transferred: { reported in
          let isNamed = (try? await store.job(id, in: .everything))??.finishing != nil
          slot.mutate { $0.append(isNamed) }
          transfers.mutate { $0 += reported }
        },
        foundLarge: { _, _ in large.mutate { $0 += 1 } }, ended: { _ in })
      return JobJournal(store: store, id: id, fence: fence, isUnnamed: false, reports: reports)
    }
  }

  private static func data(_ size: Int64) -> ResumeData {
    ResumeData(
      url: "http://h/x", validators: Validators(etag: "\"a\""), totalBytes: size,
      partialFile: .init(directory: "/d", name: ".x.part", identity: .init(device: 1, inode: 2), finalName: "x"),
      checkpointBytes: size, bootID: "b")
  }

  @Test(
    "the slot is released before the rename, and only large files store resume data",
    arguments: [(0, false), (1 << 20, false), (1 << 20 + 1, true)] as [(Int64, Bool)])
  func slot(_ size: Int64, _ isKept: Bool) async throws {
    let world = try await World()
    try await world.journal(fence: world.record.fence).willRename(Self.data(size))
    #expect(world.slot.value == [false])
    #expect(world.transfers.value == [.init(job: world.record.job.id, fence: world.record.fence, isLarge: isKept)])
    let row = try #require(try await world.store.job(world.record.job.id, in: .everything))
    #expect(row.finishing == .init(device: 1, inode: 2))
    #expect(row.job.bytesDone == size)
    #expect((row.resumeData != nil) == isKept)
    await world.store.close()
  }

  @Test(
    "a running transfer of more than 1 MiB is reported", arguments: [(1 << 20, 0), (1 << 20 + 1, 1)] as [(Int64, Int)])
  func large(_ size: Int64, _ reports: Int) async throws {
    let world = try await World()
    try await world.journal(fence: world.record.fence).record(Self.data(size))
    #expect(world.large.value == reports && world.transfers.value.isEmpty)
    await world.store.close()
  }

  @Test("an attempt that lost its claim writes nothing and renames nothing")
  func lost() async throws {
    let world = try await World()
    await #expect(throws: LostClaim.self) {
      try await world.journal(fence: world.record.fence - 1).willRename(Self.data(10))
    }
    let row = try #require(try await world.store.job(world.record.job.id, in: .everything))
    #expect(row.finishing == nil && row.job.bytesDone == 0)
    await world.store.close()
  }
}
