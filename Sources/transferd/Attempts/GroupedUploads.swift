import Store
import Synchronization
import TransferAPI
import TransferEngine

/// The daemon's one group of uploads: small files that are sent with PUT share their work (see `UploadGroup`). Every other
/// upload continues by itself.
final class GroupedUploads: GroupedTransfers {
  /// More transfers than the daemon ever runs at once: `JobQueue` applies the daemon's limits.
  private static let maximumConnections = 100_000

  let lane = TransferLane.uploads
  private let group: UploadGroup
  private let isReporting = Mutex(false)

  init(session: Session) { group = session.uploadGroup(maximumConnections: Self.maximumConnections) }

  /// Starts uploads. The tag of each is its job's id.
  /// - Parameter reports: called for all uploads; those of the first call are used.
  func start(_ uploads: [GroupUpload], _ reports: AttemptReports) {
    let group = group
    isReporting.withLock { isReporting in
      guard !isReporting else { return }
      isReporting = true
      Task {
        for await outcomes in group {
          await reports.ended(outcomes.map { (JobID(tag: $0.tag), .upload($0.response)) })
        }
      }
    }
    group.add(uploads)
  }

  func cancel(_ id: JobID) { group.cancel(id.tag) }

  func progress(of id: JobID) -> TransferProgress { group.progress(id.tag) ?? TransferProgress() }

  func limitConnections(_ maximum: Int?, origin: String) async {
    await group.limitConnections(maximum, origin: origin)
  }
}
