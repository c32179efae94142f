import Store
import TransferAPI
import TransferEngine

/// The copies of relays.
extension JobRunner {
  /// Refuses a relay whose length is known while there is no room for it, before its server is asked. A file that never finds
  /// room is refused by its response.
  func checkRoom(for download: JobRecord) throws(TransferError) {
    guard download.spec.spool != nil, let total = download.job.bytesTotal, total <= space.limit,
      let refusal = space.reserve(total, for: download.job.id)
    else { return }
    throw .file(.diskFull(refusal))
  }

  /// The copy shares the spool with others.
  func share(_ destination: inout DownloadDestination, _ job: JobID) {
    let limit = space.limit
    destination.attributes.maximumBytes = min(destination.attributes.maximumBytes ?? limit, limit)
    destination.attributes.allowance = space.allowance(for: job)
  }
}
