import Synchronization

/// The state of a group of downloads, and its caller's side.
///
/// A download passes through four stages: prepared on a blocking thread → transferred on the loop's thread → landed
/// (written, synced, recorded, renamed) → delivered to the sequence. Each stage passes arrays to the next one.
final class DownloadGroupCore: AnyRequestGroup {
  let session: Session
  let journal: (any DownloadGroupJournal)?
  let limits: GroupLimits
  let transfers: GroupTransfers
  let landings = DirectoryQueue<DirectoryIdentity, GroupMember>()
  /// Makes a step of a landing fail, in tests.
  let fault: GroupLanding.Fault?

  private let outcomes = GroupOutcomes<DownloadGroup.Outcome>()
  private let arrivals = CombinedCalls<Int>()

  private struct State {
    /// Added and not ended, by tag.
    var members: [Int: GroupMember] = [:]
    var unprepared = PreparationQueue<GroupMember>()
  }
  private let state = Mutex(State())

  init(
    _ session: Session, _ journal: (any DownloadGroupJournal)?, _ limits: GroupLimits, fault: GroupLanding.Fault? = nil
  ) {
    self.session = session
    self.journal = journal
    self.limits = limits
    self.fault = fault
    transfers = GroupTransfers(limits)
  }

  // MARK: The caller's side

  func add(_ downloads: [GroupDownload]) {
    let members = downloads.map { GroupMember($0, self) }
    state.withLock { state in
      // With the lock: the session can cancel the members as soon as it knows the group.
      outcomes.expect(members.count) { session.active.insert(self) }
      for member in members { state.members[member.download.tag] = member }
      state.unprepared.append(members)
    }
    prepareMore()
  }

  /// Adds a download that has failed already.
  func fail(_ tag: Int, _ error: TransferError) {
    outcomes.expect(1) {}
    deliver([DownloadGroup.Outcome(tag: tag, response: FileResponse(failing: error))])
  }

  func finish() { outcomes.finish() }

  /// - Parameter tags: `nil` for all.
  func cancel(_ tags: [Int]?, _ cancellation: GroupMember.Cancellation) {
    let members = state.withLock { state in
      tags.map { $0.compactMap { state.members[$0] } } ?? Array(state.members.values)
    }
    let cancelled = members.filter { $0.cancel(cancellation) }
    guard !cancelled.isEmpty else { return }
    Task {
      await session.loop.run { loop in
        for member in cancelled { self.endCancelled(member, loop) }
      }
    }
  }

  func cancelAll() { cancel(nil, .discardingBytes) }

  func ended() async { await outcomes.ended() }

  func progress(_ tag: Int) -> TransferProgress? {
    state.withLock { $0.members[tag] }?.currentProgress
  }

  func nextOutcomes() async -> [DownloadGroup.Outcome]? { await outcomes.next() }

  // MARK: Outcomes

  /// Delivers outcomes. Nothing else happens to a download after its outcome.
  func deliver(_ ended: [DownloadGroup.Outcome]) {
    state.withLock { state in
      for outcome in ended { state.members[outcome.tag] = nil }
    }
    outcomes.deliver(ended) { session.active.remove(self) }
  }

  /// Reports to the journal that the bytes have arrived.
  func reportArrival(_ tags: [Int]) {
    guard let journal else { return }
    arrivals.add(tags) { await journal.didFinishTransfer($0) }
  }

  // MARK: Preparation

  /// Prepares the next downloads if few prepared ones wait for a connection. Each directory has a thread of its own, so that
  /// one that does not respond delays only its own downloads.
  func prepareMore() {
    let waiting = transfers.waiting.load(ordering: .relaxed)
    let members = state.withLock { $0.unprepared.take(waiting: waiting, limit: limits.preparedDownloads) }
    for members in Dictionary(grouping: members, by: { $0.download.destination.directory }).values {
      Task {
        let prepared = await BlockingIO.value { GroupPreparation.prepare(members) }
        await session.loop.run { loop in self.enqueue(prepared, loop) }
      }
    }
  }

  func preparationEnded(of count: Int) {
    state.withLock { $0.unprepared.preparationEnded(of: count) }
  }
}
