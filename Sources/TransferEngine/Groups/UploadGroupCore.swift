import Synchronization

/// The state of a group of uploads, and its caller's side.
///
/// An upload passes through four stages: prepared on a blocking thread → transferred on the loop's thread → checked on
/// a blocking thread (its source is unchanged) → delivered to the sequence. Each stage passes arrays to the next one.
final class UploadGroupCore: AnyRequestGroup {
  let session: Session
  let transfers: UploadTransfers

  /// Uploads that are prepared at once: each has an open file.
  private static let preparedUploads = 128

  /// Uploads that are checked together.
  private static let checkedUploads = 256

  private let outcomes = GroupOutcomes<UploadGroup.Outcome>()
  private let checks = DirectoryQueue<String, UploadGroupMember>()
  /// The number of uploads that ended in the group, for tests.
  let endedInside = Atomic(0)

  private struct State {
    /// Added and not ended, by tag.
    var members: [Int: UploadGroupMember] = [:]
    var unprepared = PreparationQueue<UploadGroupMember>()
  }
  private let state = Mutex(State())

  init(_ session: Session, maximumConnections: Int) {
    self.session = session
    transfers = UploadTransfers(limit: maximumConnections)
  }

  // MARK: The caller's side

  func add(_ uploads: [GroupUpload]) {
    let members = uploads.map { UploadGroupMember($0, self) }
    state.withLock { state in
      // With the lock: the session can cancel the members as soon as it knows the group.
      outcomes.expect(members.count) { session.active.insert(self) }
      for member in members { state.members[member.item.tag] = member }
      state.unprepared.append(members)
    }
    prepareMore()
  }

  func finish() { outcomes.finish() }

  /// - Parameter tags: `nil` for all.
  func cancel(_ tags: [Int]?) {
    let members = state.withLock { state in
      tags.map { $0.compactMap { state.members[$0] } } ?? Array(state.members.values)
    }
    let cancelled = members.filter { $0.cancel() }
    guard !cancelled.isEmpty else { return }
    Task {
      await session.loop.run { loop in
        for member in cancelled { self.endCancelled(member, loop) }
      }
    }
  }

  func cancelAll() { cancel(nil) }

  func ended() async { await outcomes.ended() }

  func progress(_ tag: Int) -> TransferProgress? { state.withLock { $0.members[tag] }?.progress }

  func nextOutcomes() async -> [UploadGroup.Outcome]? { await outcomes.next() }

  // MARK: Outcomes

  /// Delivers outcomes. Nothing else happens to an upload after its outcome.
  func deliver(_ ended: [UploadGroup.Outcome]) {
    state.withLock { state in
      for outcome in ended { state.members[outcome.tag] = nil }
    }
    outcomes.deliver(ended) { session.active.remove(self) }
  }

  /// Compares the sources of uploads that the server has accepted: one may have changed after its last byte was read. Uploads
  /// that are accepted meanwhile are checked together.
  func check(_ members: [UploadGroupMember]) {
    for (directory, members) in Dictionary(grouping: members, by: \.directory) {
      guard checks.add(members, in: directory) else { continue }
      Task {
        while let members = self.checks.next(Self.checkedUploads, in: directory) {
          let ended = await BlockingIO.value { members.compactMap { $0.outcomeIfUnchanged() } }
          self.endedInside.add(ended.count, ordering: .relaxed)
          self.deliver(ended)
        }
      }
    }
  }

  // MARK: Preparation

  /// Prepares the next uploads if few prepared ones wait for a connection. Each directory has a thread of its own, so that one
  /// that does not respond delays only its own uploads.
  func prepareMore() {
    let waiting = transfers.waiting.load(ordering: .relaxed)
    let members = state.withLock { $0.unprepared.take(waiting: waiting, limit: Self.preparedUploads) }
    for members in Dictionary(grouping: members, by: \.directory).values {
      Task {
        await BlockingIO.value { for member in members { member.prepare() } }
        await session.loop.run { loop in self.enqueue(members, loop) }
      }
    }
  }

  func preparationEnded(of count: Int) { state.withLock { $0.unprepared.preparationEnded(of: count) } }
}
