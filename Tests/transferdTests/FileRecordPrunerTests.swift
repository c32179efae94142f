import Foundation
import Logging
import Store
import TestSupport
import Testing

@testable import TransferEngine
@testable import transferd

/// Which records of `ifChanged` are deleted.
@Suite struct FileRecordPrunerTests {
  /// A store with records of files in a directory.
  private struct Scene {
    let directory: TemporaryDirectory
    let store: Store

    init() throws {
      directory = try TemporaryDirectory()
      store = try Store(directory: directory.path("state"), now: Date()) { _ in }
    }

    /// Runs a job that has fetched a file at a time.
    func fetch(_ name: String, at time: Date, exists: Bool = true) async throws {
      let path = try directory.file(name, text: name)
      let stamp = try #require(FileStamp(path: path))
      if !exists { unlink(path) }
      var spec = JobSpec(owner: 0, url: "http://h/\(name)", origin: "http://h:80", destination: path)
      spec.options.download.ifChanged = true
      let id = try await store.submit([spec], in: .everything, at: time)[0].get().id
      let record = try await store.claim([id], at: time)[0]
      var settlement = Settlement(id: id, fence: record.fence, event: .complete, bytesDone: 1, bytesTotal: 1)
      settlement.fileRecord = FileRecord(validators: Validators(etag: "\"a\""), stamp: stamp).encoded()
      try await store.settle(settlement, at: time)
    }

    func prune(maximum: Int = 100) async -> Int {
      var logger = Logger(label: "test")
      logger.logLevel = .critical
      return await FileRecordPruner(store: store, logger: logger, maximum: maximum, pause: .zero).prune(now: Date())
    }

    var paths: [String] {
      get async throws {
        let all = try await store.unusedFileRecords(since: .distantFuture, after: nil)
        return all.unused.map { ($0.path as NSString).lastPathComponent }
      }
    }
  }

  private static let longAgo = Date(timeIntervalSinceNow: -100 * 86400)

  @Test("a record goes when no job has used it for 90 days and its file is gone or another version")
  func unused() async throws {
    let scene = try Scene()
    try await scene.fetch("kept", at: Self.longAgo)
    try await scene.fetch("gone", at: Self.longAgo, exists: false)
    try await scene.fetch("recently-gone", at: Date(timeIntervalSinceNow: -80 * 86400), exists: false)
    try await scene.fetch("changed", at: Self.longAgo)
    try scene.directory.file("changed", text: "other content")
    #expect(await scene.prune() == 2)
    #expect(try await scene.paths == ["kept", "recently-gone"])
    #expect(await scene.prune() == 0)
  }

  @Test("above the maximum the oldest go, even if their files exist")
  func maximum() async throws {
    let scene = try Scene()
    for n in 0..<5 { try await scene.fetch("\(n)", at: Date(timeIntervalSinceNow: Double(n - 10))) }
    #expect(await scene.prune(maximum: 3) == 2)
    #expect(try await scene.paths == ["2", "3", "4"])
  }
}
