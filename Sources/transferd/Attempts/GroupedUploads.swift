import Store
import Synchronization
import TransferAPI
import TransferEngine

/// The daemon's one group of uploads: small files that are sent with PUT share their work (see `UploadGroup`). Every other
/// upload continues by itself.
final class GroupedUploads: GroupedTransfers {
  /// More than the daemon ever runs at once: its own limits are `JobQueue`'s.
  private static let maximumConnections = 100_000

  private let session: Session
  private let state = Mutex(State())

  private struct State {
    var group: UploadGroup?
    /// The fences of the claims under which the uploads run.
    var fences: [Int: Int64] = [:]
  }

  init(session: Session) { self.session = session }

  /// Starts uploads. The tag of each is its job's id.
  /// - Parameters:
  ///   - uploads: each with the fence of its job's claim.
  ///   - reports: called for all uploads; those of the first call are used.
  func start(_ uploads: [(GroupUpload, fence: Int64)], _ reports: AttemptReports) {
    let group = state.withLock { state in
      for (upload, fence) in uploads { state.fences[upload.tag] = fence }
      if let group = state.group { return group }
      let group = session.uploadGroup(maximumConnections: Self.maximumConnections) { tags in
        await self.reportAccepted(tags, reports)
      }
      state.group = group
      Task { await self.report(group, reports) }
      return group
    }
    group.add(uploads.map(\.0))
  }

  func cancel(_ id: JobID) { state.withLock(\.group)?.cancel(id.tag) }

  func progress(of id: JobID) -> TransferProgress {
    state.withLock(\.group)?.progress(id.tag) ?? TransferProgress()
  }

  private func report(_ group: UploadGroup, _ reports: AttemptReports) async {
    for await outcomes in group {
      state.withLock { state in
        for outcome in outcomes { state.fences[outcome.tag] = nil }
      }
      await reports.ended(outcomes.map { (JobID(tag: $0.tag), .upload($0.response)) })
    }
  }

  /// Uploads that stay in the group are small.
  private func reportAccepted(_ tags: [Int], _ reports: AttemptReports) async {
    let fences = state.withLock(\.fences)
    await reports.transferred(
      tags.compactMap { tag in fences[tag].map { .init(job: JobID(tag: tag), fence: $0, isLarge: false) } })
  }
}
