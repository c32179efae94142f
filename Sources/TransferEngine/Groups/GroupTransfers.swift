import Synchronization

/// The transfers of a group, as the transfer loop's thread sees them.
///
/// `@unchecked Sendable`: the variables are used on that thread only; the rest is atomic.
final class GroupTransfers: @unchecked Sendable {
  var queue: GroupQueue<GroupMember>
  /// Downloads whose bytes have arrived in the current turn.
  var arrived: [GroupMember] = []
  private let limits: GroupLimits
  private let bodyBytes = Atomic<Int64>(0)
  private let unnamedFiles = Atomic(0)
  /// Transfers wait until files have got their names.
  private let isStalled = Atomic(false)
  /// Prepared downloads that wait for a connection.
  let waiting = Atomic(0)

  init(_ limits: GroupLimits) {
    self.limits = limits
    queue = GroupQueue(limit: limits.connections)
  }

  // MARK: Memory

  /// - Returns: false if a body of this length has no room.
  func reserve(_ length: Int64) -> Bool {
    let (_, now) = bodyBytes.add(length, ordering: .relaxed)
    guard now > limits.memoryBytes else { return true }
    release(length)
    return false
  }

  func release(_ length: Int64) { bodyBytes.subtract(length, ordering: .relaxed) }

  // MARK: Files without names

  /// On the loop's thread.
  /// - Returns: whether another transfer may begin. If not, `nameFiles` will return true.
  func mayBegin() -> Bool {
    guard unnamedFiles.load(ordering: .acquiring) >= limits.unnamedFiles else { return true }
    isStalled.store(true, ordering: .sequentiallyConsistent)
    // The last files may have got their names before `isStalled` was set.
    return unnamedFiles.load(ordering: .sequentiallyConsistent) < limits.unnamedFiles
  }

  func addUnnamed(_ count: Int) { unnamedFiles.add(count, ordering: .sequentiallyConsistent) }

  /// These files have got their names or have left the group.
  /// - Returns: whether transfers wait for that.
  func nameFiles(_ count: Int) -> Bool {
    unnamedFiles.subtract(count, ordering: .sequentiallyConsistent)
    return isStalled.exchange(false, ordering: .sequentiallyConsistent)
  }
}
