import FoundationEssentials
import Store
import Synchronization
import TransferAPI
import TransferEngine
import WireValues

/// The daemon's one group of downloads: small files share their work, from the transfer to the row (see
/// `DownloadGroup`). A download that leaves the group continues as a single download, with its own journal.
final class GroupedDownloads: GroupedTransfers, DownloadGroupJournal {
  /// More transfers than the daemon ever runs at once: `JobQueue` applies the daemon's limits.
  private static let maximumConnections = 100_000

  let lane = TransferLane.downloads
  private let session: Session
  private let store: Store
  private let state = Mutex(State())

  private struct State {
    var group: DownloadGroup?
    var reports: AttemptReports?
    /// The fences of the claims under which the downloads run.
    var fences: [Int: Int64] = [:]
  }

  init(session: Session, store: Store) {
    self.session = session
    self.store = store
  }

  /// Starts downloads. The tag of each is its job's id.
  /// - Parameters:
  ///   - downloads: each with the fence of its job's claim.
  ///   - reports: called for all downloads; those of the first call are used.
  func start(_ downloads: [(GroupDownload, fence: Int64)], _ reports: AttemptReports) {
    let group = group
    state.withLock { state in
      for (download, fence) in downloads { state.fences[download.tag] = fence }
      guard state.reports == nil else { return }
      state.reports = reports
      Task { await self.report(group, reports) }
    }
    group.add(downloads.map(\.0))
  }

  /// Made when it is needed first.
  private var group: DownloadGroup {
    state.withLock { state in
      if let group = state.group { return group }
      let group = session.downloadGroup(maximumConnections: Self.maximumConnections, journal: self)
      state.group = group
      return group
    }
  }

  func cancel(_ id: JobID) {
    state.withLock(\.group)?.cancel(id.tag, producingResumeData: true)
  }

  func progress(of id: JobID) -> TransferProgress {
    state.withLock(\.group)?.progress(id.tag) ?? TransferProgress()
  }

  func limitConnections(_ maximum: Int?, origin: String) async {
    await group.limitConnections(maximum, origin: origin)
  }

  private func report(_ group: DownloadGroup, _ reports: AttemptReports) async {
    for await outcomes in group {
      state.withLock { state in
        for outcome in outcomes { state.fences[outcome.tag] = nil }
      }
      await reports.ended(outcomes.map { (JobID(tag: $0.tag), .download($0.response)) })
    }
  }

  // MARK: The group's journal

  func willRename(_ files: [(tag: Int, data: ResumeData)]) async throws -> [Bool] {
    let fences = state.withLock(\.fences)
    // Small files get no resume data: fetching one again after a crash costs less than storing it for every file. A file
    // without a fence has ended; no claim has the fence -1.
    let checkpoints = files.map { tag, data in
      Checkpoint(
        id: JobID(tag: tag), fence: fences[tag] ?? -1, bytesDone: data.checkpointBytes, bytesTotal: data.totalBytes,
        resumeData: nil, destination: nil, finishing: data.partialFile.identity.withoutBirth,
        finishingRecord: data.record)
    }
    return try await store.checkpoint(checkpoints, at: Date())
  }

  func didFinishTransfer(_ tags: [Int]) async {
    let (fences, reports) = state.withLock { ($0.fences, $0.reports) }
    let transfers = tags.compactMap { tag in
      fences[tag].map { FinishedTransfer(job: JobID(tag: tag), fence: $0, isLarge: false) }
    }
    await reports?.transferred(transfers)
  }
}
