import Synchronization

/// The state of a group of downloads, and its caller's side.
///
/// A download goes through four places: prepared on a blocking thread → transferred on the loop's thread → landed (written,
/// synced, recorded, renamed) → delivered to the sequence. Each hands on arrays.
final class DownloadGroupCore: AnyRequestGroup {
  let session: Session
  let journal: (any DownloadGroupJournal)?
  let limits: GroupLimits
  let transfers: GroupTransfers
  let landings = GroupLandings()
  /// Makes a step of a landing fail, in tests.
  let fault: GroupLanding.Fault?

  private struct State {
    /// Added and not ended, by tag.
    var members: [Int: GroupMember] = [:]
    /// Not yet prepared; those before `firstUnprepared` are.
    var unprepared: [GroupMember] = []
    var firstUnprepared = 0
    /// The number of downloads that are being prepared.
    var preparing = 0
    /// Downloads without an outcome.
    var unended = 0
    var isFinished = false
    var outcomes: [DownloadGroup.Outcome] = []
    var waiter: CheckedContinuation<[DownloadGroup.Outcome]?, Never>?
    /// They wait until no download is left.
    var idleWaiters: [CheckedContinuation<Void, Never>] = []
    /// Downloads whose bytes have arrived, for the journal.
    var finishedTags: [Int] = []
    var isReporting = false
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
      precondition(!state.isFinished, "a download was added to a group after finish()")
      for member in members { state.members[member.download.tag] = member }
      state.unprepared.append(contentsOf: members)
      state.unended += members.count
      if state.unended > 0 { session.active.insert(self) }
    }
    prepareMore()
  }

  /// Adds a download that has failed already.
  func fail(_ tag: Int, _ error: TransferError) {
    state.withLock { $0.unended += 1 }
    deliver([DownloadGroup.Outcome(tag: tag, response: FileResponse(failing: error))])
  }

  func finish() {
    let waiter = state.withLock { state in
      state.isFinished = true
      return Self.takeWaiterAtEnd(&state)
    }
    waiter?.resume(returning: nil)
  }

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

  func ended() async {
    await withCheckedContinuation { continuation in
      let isIdle = state.withLock { state in
        if state.unended > 0 { state.idleWaiters.append(continuation) }
        return state.unended == 0
      }
      if isIdle { continuation.resume() }
    }
  }

  func progress(_ tag: Int) -> TransferProgress? {
    state.withLock { $0.members[tag] }?.currentProgress
  }

  func nextOutcomes() async -> [DownloadGroup.Outcome]? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let outcomes = state.withLock { state -> [DownloadGroup.Outcome]?? in
          if !state.outcomes.isEmpty {
            defer { state.outcomes = [] }
            return .some(state.outcomes)
          }
          if Task.isCancelled || state.isFinished && state.unended == 0 { return .some(nil) }
          precondition(state.waiter == nil, "two tasks iterate one group of downloads")
          state.waiter = continuation
          return nil
        }
        if let outcomes { continuation.resume(returning: outcomes) }
      }
    } onCancel: {
      let waiter = state.withLock { state in
        defer { state.waiter = nil }
        return state.waiter
      }
      waiter?.resume(returning: nil)
    }
  }

  private static func takeWaiterAtEnd(_ state: inout State) -> CheckedContinuation<[DownloadGroup.Outcome]?, Never>? {
    guard state.isFinished, state.unended == 0, state.outcomes.isEmpty else { return nil }
    defer { state.waiter = nil }
    return state.waiter
  }

  // MARK: Outcomes

  /// Each outcome is the last thing that happens to its download.
  func deliver(_ outcomes: [DownloadGroup.Outcome]) {
    guard !outcomes.isEmpty else { return }
    let (waiter, idle) = state.withLock { state in
      for outcome in outcomes { state.members[outcome.tag] = nil }
      state.unended -= outcomes.count
      if state.waiter == nil { state.outcomes.append(contentsOf: outcomes) }
      var idle: [CheckedContinuation<Void, Never>] = []
      if state.unended == 0 {
        session.active.remove(self)
        swap(&idle, &state.idleWaiters)
      }
      defer { state.waiter = nil }
      return (state.waiter, idle)
    }
    waiter?.resume(returning: outcomes)
    for continuation in idle { continuation.resume() }
  }

  /// Tells the journal that the bytes have arrived. Calls are combined while one runs.
  func reportArrival(_ tags: [Int]) {
    guard let journal else { return }
    let mustStart = state.withLock { state in
      state.finishedTags.append(contentsOf: tags)
      defer { state.isReporting = true }
      return !state.isReporting
    }
    guard mustStart else { return }
    Task {
      while let tags = self.takeFinishedTags() { await journal.didFinishTransfer(tags) }
    }
  }

  private func takeFinishedTags() -> [Int]? {
    state.withLock { state in
      guard !state.finishedTags.isEmpty else {
        state.isReporting = false
        return nil
      }
      defer { state.finishedTags = [] }
      return state.finishedTags
    }
  }

  // MARK: Preparation

  /// Prepares the next downloads if few prepared ones wait for a connection. Each directory has a thread of its own, so that
  /// one that does not respond delays only its own downloads.
  func prepareMore() {
    let waiting = transfers.waiting.load(ordering: .relaxed)
    let members = state.withLock { state -> [GroupMember] in
      // checked: counts of downloads in memory
      let isEnough = waiting + state.preparing >= limits.preparedDownloads / 2
      guard !isEnough, state.firstUnprepared < state.unprepared.count else { return [] }
      let end = min(state.unprepared.count, state.firstUnprepared + limits.preparedDownloads)
      let members = Array(state.unprepared[state.firstUnprepared..<end])  // checked: firstUnprepared < count
      state.firstUnprepared = end
      if end == state.unprepared.count {
        state.unprepared = []
        state.firstUnprepared = 0
      }
      state.preparing += members.count  // checked: a count of downloads in memory
      return members
    }
    for members in Dictionary(grouping: members, by: { $0.download.destination.directory }).values {
      Task {
        let prepared = await BlockingIO.value { GroupPreparation.prepare(members) }
        await session.loop.run { loop in self.enqueue(prepared, loop) }
      }
    }
  }

  func preparationEnded(of count: Int) {
    state.withLock { $0.preparing -= count }  // checked: they were added
  }
}
