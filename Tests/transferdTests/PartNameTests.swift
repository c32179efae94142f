import Foundation
import Logging
import Store
import TestSupport
import Testing

@testable import TransferEngine
@testable import transferd

/// The part file of a job whose response names its file: the row has that name as soon as the file is about to get it.
@Suite struct PartNameTests {
  private struct World {
    let directory: TemporaryDirectory
    let store: Store
    let record: JobRecord
    let paths: PathPolicy
    let hasPartDirectory: Bool

    init(hasPartDirectory: Bool) async throws {
      self.hasPartDirectory = hasPartDirectory
      directory = try TemporaryDirectory()
      try directory.directory("out")
      try directory.directory("parts")
      store = try Store(directory: directory.path("state"), now: Date(), onEvents: { _ in })
      paths = PathPolicy(
        daemon: 0, state: directory.path("state"), socket: directory.path("socket"), runtimeDirectory: nil)
      var spec = JobSpec(owner: 0, url: "http://h/x", origin: "http://h:80", destination: directory.path("out/"))
      spec.options.download.nameFromResponse = true
      if hasPartDirectory { spec.options.download.partDir = directory.path("parts") }
      let id = try await store.submit([spec], in: .everything, at: Date())[0].get().id
      record = try await store.claim([id], at: Date())[0]
    }

    /// The path of the part file, as the first attempt creates it.
    var part: String {
      directory.path(hasPartDirectory ? "parts/" : "out/") + JobRunner.partialName(of: record)
    }

    /// Creates the part file, and stores that it will be named by the response.
    func announce() async throws {
      try Data("content".utf8).write(to: URL(fileURLWithPath: part))
      let identity = try #require(PartialFiles.identity(ofFileAt: part))
      var data = ResumeData(
        url: "http://h/x", validators: Validators(), totalBytes: 7,
        partialFile: .init(
          directory: part.parentPath, name: String(part.baseName), identity: identity, finalName: "given"),
        checkpointBytes: 7, bootID: "b")
      if hasPartDirectory { data.landing = .init(directory: directory.path("out")) }
      let journal = JobJournal(
        store: store, id: record.job.id, fence: record.fence, isUnnamed: true,
        reports: AttemptReports(transferred: { _ in }, foundLarge: { _, _ in }, ended: { _ in }))
      try await journal.willRename(data)
    }

    /// What a kill has left, after the daemon has started again.
    func recover() async throws -> JobRecord {
      try await Recovery.perform(
        in: store, paths: paths, relays: RelaySpool(stateDirectory: directory.path("state")),
        logger: Logger(label: "test"), now: Date())
      return try #require(try await store.job(record.job.id, in: .everything))
    }

    var names: [String] { get throws { try directory.names(in: "out") + directory.names(in: "parts") } }
  }

  @Test("killed before the rename: the job finds its part file again", arguments: [false, true])
  func before(hasPartDirectory: Bool) async throws {
    let world = try await World(hasPartDirectory: hasPartDirectory)
    try await world.announce()
    let row = try await world.recover()
    #expect(row.job.state == .queued)
    #expect(row.spec.destination == world.directory.path("out/given"))
    #expect(JobRunner.partialName(of: row) == String(world.part.baseName))
    JobRunner.removeDownload(of: row, world.paths)
    #expect(try world.names.isEmpty)
    await world.store.close()
  }

  @Test("killed after the rename: nothing but the file is left", arguments: [false, true], [false, true])
  func after(hasPartDirectory: Bool, isLinked: Bool) async throws {
    let world = try await World(hasPartDirectory: hasPartDirectory)
    try await world.announce()
    let path = world.directory.path("out/given")
    // Without RENAME_NOREPLACE the rename is a link and an unlink.
    if isLinked {
      try FileManager.default.linkItem(atPath: world.part, toPath: path)
    } else {
      try FileManager.default.moveItem(atPath: world.part, toPath: path)
    }
    let row = try await world.recover()
    #expect(row.job.state == .completed)
    #expect(try world.names == ["given"])
    await world.store.close()
  }
}
