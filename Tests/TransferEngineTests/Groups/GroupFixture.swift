import Foundation
import Synchronization
import TestSupport
import Testing

@testable import TransferEngine

/// A directory and a session for one test's group of downloads.
final class GroupFixture: Sendable {
  let directory: TemporaryDirectory
  let session: Session

  init(_ session: Session = Session()) throws {
    directory = try TemporaryDirectory()
    self.session = session
  }

  /// Downloads of `/0`, `/1`, … to files of these names.
  func items(
    _ server: LoopbackServer, _ tags: Range<Int>, options: DownloadOptions = [], in directory: String? = nil,
    change: (inout GroupDownload) -> Void = { _ in }
  ) throws -> [GroupDownload] {
    try tags.map { tag in
      var item = GroupDownload(
        tag: tag, request: try .of(server, "/\(tag)"),
        to: DownloadDestination(directory: directory ?? self.directory.path, name: "\(tag)"), options: options,
        partialName: ".\(tag).part")
      change(&item)
      return item
    }
  }

  /// A group whose landings fail as `fault` decides.
  func group(
    connections: Int = 8, journal: (any DownloadGroupJournal)? = nil, fault: GroupLanding.Fault? = nil
  ) -> DownloadGroup {
    var limits = GroupLimits()
    limits.connections = connections
    return DownloadGroup(core: DownloadGroupCore(session, journal, limits, fault: fault))
  }

  func names() throws -> [String] { try directory.names() }

  func identity(_ name: String) -> FileIdentity? { PartialFiles.identity(ofFileAt: directory.path(name)) }
}

extension DownloadGroup {
  /// All responses by tag, after the end of the group.
  func responses() async -> [Int: FileResponse] {
    var all: [Int: FileResponse] = [:]
    for await outcomes in self {
      for outcome in outcomes {
        #expect(all[outcome.tag] == nil, "two outcomes for \(outcome.tag)")
        all[outcome.tag] = outcome.response
      }
    }
    return all
  }
}

extension [Int: FileResponse] {
  var successes: Int { values.count { $0.isSuccess } }
  var allSucceeded: Bool { successes == count }
}

/// Stores all calls, and allows the renames that `allows` allows.
final class GroupSpy: DownloadGroupJournal {
  struct Refusal: Error {}

  /// The tags of each call of `willRename`.
  let renames = Watched<[[Int]]>([])
  let datas = Mutex<[Int: ResumeData]>([:])
  let finished = Watched<[Int]>([])
  private let allows: @Sendable (Int) throws -> Bool
  private let gate: Gate?

  /// - Parameter gate: Each call of `willRename` waits for it.
  init(until gate: Gate? = nil, allows: @escaping @Sendable (Int) throws -> Bool = { _ in true }) {
    self.gate = gate
    self.allows = allows
  }

  func willRename(_ files: [(tag: Int, data: ResumeData)]) async throws -> [Bool] {
    datas.withLock { datas in for file in files { datas[file.tag] = file.data } }
    let tags = files.map(\.tag)
    renames.mutate { $0.append(tags) }
    try await gate?.wait()
    return try files.map { try allows($0.tag) }
  }

  func didFinishTransfer(_ tags: [Int]) async { finished.mutate { $0 += tags } }
}
