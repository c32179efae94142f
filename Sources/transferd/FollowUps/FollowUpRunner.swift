import FoundationEssentials
import Glibc
import Logging
import Store
import Threads
import TransferAPI
import TransferEngine

/// Runs the follow-up actions of ended jobs: deletes or moves files, runs hooks, and deletes unfinished uploads on servers.
/// Pending actions are stored. After a crash they are repeated until their completion is stored.
actor FollowUpRunner {
  let store: Store
  let runner: JobRunner
  let logger: Logger
  var hooks: HookConfiguration
  private var isStarted = false
  private var timetable = FollowUpTimetable()
  /// Work for which ``wake()`` was called while it was running.
  private var mustRepeat: Set<FollowUpWork> = []
  var busyTargets = BusyTargets()
  private var alarm: Task<Void, Never>?

  init(store: Store, runner: JobRunner, hooks: HookConfiguration, logger: Logger) {
    self.store = store
    self.runner = runner
    self.hooks = hooks
    self.logger = logger
  }

  func setHooks(_ hooks: HookConfiguration) { self.hooks = hooks }

  /// Starts running actions. Call it when the daemon is ready.
  func start() async {
    isStarted = true
    await clockChanged()
  }

  /// The wall clock was set, or may have been while the daemon did not run: other actions may be due now, and none
  /// waits for a time that the clock has left again.
  func clockChanged() async {
    let longest = FollowUpWaits(
      fileAction: FileActionRound.maximumDelay, remoteCleanup: Self.maximumCleanupDelay,
      delivery: Webhook.maximumDelay)
    do {
      try await store.replanFollowUps(longest: longest, now: Date())
    } catch StoreError.closed {
      return
    } catch {
      logger.error("cannot run follow-up actions", metadata: ["error": "\(error)"])
    }
    wake()
  }

  /// Call this when there may be new actions.
  func wake() {
    guard isStarted else { return }
    for work in FollowUpWork.allCases {
      guard timetable.begin(work) else {
        mustRepeat.insert(work)
        continue
      }
      Task { await self.run(work) }
    }
  }

  private func run(_ work: FollowUpWork) async {
    var isFailed = false
    repeat {
      mustRepeat.remove(work)
      do {
        switch work {
        case .fileActions: try await performFileActions()
        case .hooks: try await runHooks()
        case .remoteCleanups: try await cleanUpServers()
        case .deliveries: try await deliver()
        }
      } catch StoreError.closed {
        break
      } catch {
        logger.error("cannot run follow-up actions", metadata: ["error": "\(error)"])
        isFailed = true
      }
    } while mustRepeat.contains(work) && !isFailed
    timetable.end(work, isFailed: isFailed, now: .now)
    await setAlarm()
  }

  /// Sets the alarm to the time at which the next postponed action is due.
  func setAlarm() async {
    var due: [FollowUpWork: Date] = [:]
    due[.fileActions] = try? await store.nextFileAction()
    due[.remoteCleanups] = try? await store.nextRemoteCleanup()
    // Last: a task that ends during a wait sets the alarm itself.
    let deliveries = (try? await store.deliveryTimes()) ?? [:]
    due[.deliveries] = deliveries.filter { !busyTargets.contains($0.key) }.values.min()
    alarm?.cancel()
    alarm = nil
    guard let delay = timetable.delay(due: due, time: Date(), now: .now) else { return }
    alarm = Task {
      do { try await Task.pause(for: delay) } catch { return }
      self.wake()
    }
  }

  // MARK: Files

  private func performFileActions() async throws {
    while true {
      let now = Date()
      let actions = try await store.dueFileActions(now: now, limit: 256)
      guard !actions.isEmpty else { return }
      let paths = runner.paths
      let outcomes = await BlockingWork.run {
        FileActionRound.perform(actions, now: now) { paths.rules(for: $0, .write) }
      }
      try await store.record(outcomes, at: Date())
      for outcome in outcomes where outcome.end != .done {
        logger.warning(
          "a transferred file was not deleted or moved",
          metadata: ["job": "\(outcome.job)", "reason": "\(outcome.message)"])
      }
    }
  }
}
