import Synchronization

/// The transfers of a group of uploads, as the transfer loop's thread sees them.
///
/// `@unchecked Sendable`: the variables are used on that thread only; the rest is atomic.
final class UploadTransfers: @unchecked Sendable {
  var queue: GroupQueue<UploadGroupMember>
  /// Uploads that the server has accepted in the current turn.
  var accepted: [UploadGroupMember] = []
  /// Prepared uploads that wait for a connection.
  let waiting = Atomic(0)

  init(limit: Int) { queue = GroupQueue(limit: limit) }
}
