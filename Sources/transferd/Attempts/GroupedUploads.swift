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
  private let session: Session
  private let group = Mutex<UploadGroup?>(nil)

  init(session: Session) { self.session = session }

  /// Starts uploads. The tag of each is its job's id.
  /// - Parameter reports: called for all uploads; those of the first call are used.
  func start(_ uploads: [GroupUpload], _ reports: AttemptReports) {
    let group = group.withLock { known in
      if let known { return known }
      let group = session.uploadGroup(maximumConnections: Self.maximumConnections)
      known = group
      Task {
        for await outcomes in group {
          await reports.ended(outcomes.map { (JobID(tag: $0.tag), .upload($0.response)) })
        }
      }
      return group
    }
    group.add(uploads)
  }

  func cancel(_ id: JobID) { group.withLock { $0 }?.cancel(id.tag) }

  func progress(of id: JobID) -> TransferProgress { group.withLock { $0 }?.progress(id.tag) ?? TransferProgress() }

  func limitConnections(_ maximum: Int?, origin: String) async {
    await group.withLock { $0 }?.limitConnections(maximum, origin: origin)
  }
}
