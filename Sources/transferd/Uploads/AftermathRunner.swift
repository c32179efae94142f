import FoundationEssentials
import Glibc
import Logging
import Store
import Threads
import TransferAPI
import TransferEngine

/// Does what remains when jobs have ended: files deleted or moved, commands told, uploads taken back from servers. What is to
/// be done stands in the store, and is done again after a crash until the store knows that it is done.
actor AftermathRunner {
  let store: Store
  let runner: JobRunner
  let logger: Logger
  var hooks: HookConfiguration
  private var isStarted = false
  private var timetable = AftermathTimetable()
  private var again: Set<AftermathWork> = []
  private var alarm: Task<Void, Never>?

  init(store: Store, runner: JobRunner, hooks: HookConfiguration, logger: Logger) {
    self.store = store
    self.runner = runner
    self.hooks = hooks
    self.logger = logger
  }

  func setHooks(_ hooks: HookConfiguration) { self.hooks = hooks }

  /// From now on; not before the daemon is ready.
  func start() {
    isStarted = true
    wake()
  }

  /// There may be something to do.
  func wake() {
    guard isStarted else { return }
    for work in AftermathWork.allCases {
      guard timetable.begin(work) else {
        again.insert(work)
        continue
      }
      Task { await self.run(work) }
    }
  }

  private func run(_ work: AftermathWork) async {
    var isRefused = false
    repeat {
      again.remove(work)
      do {
        switch work {
        case .fileActions: try await performFileActions()
        case .hooks: try await runHooks()
        case .abandonments: try await abandon()
        }
      } catch StoreError.closed {
        break
      } catch {
        logger.error("cannot finish what jobs left to do", metadata: ["error": "\(error)"])
        isRefused = true
      }
    } while again.contains(work) && !isRefused
    timetable.end(work, isRefused: isRefused, now: .now)
    await plan()
  }

  /// Wakes up when something that was put off is due.
  private func plan() async {
    var due: [AftermathWork: Date] = [:]
    due[.fileActions] = try? await store.nextFileAction()
    due[.abandonments] = try? await store.nextAbandonment()
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
      let outcomes = await BlockingWork.run { FileActionRound.perform(actions, now: now) }
      try await store.record(outcomes, at: Date())
      for outcome in outcomes where outcome.end != .done {
        logger.warning(
          "an uploaded file stays where it is",
          metadata: ["job": "\(outcome.job)", "reason": "\(outcome.message)"])
      }
    }
  }
}

/// Many file actions at once, so that they share the syncs of their directories.
enum FileActionRound {
  static func perform(_ actions: [PendingFileAction], now: Date) -> [FileActionOutcome] {
    let steps = actions.map { FileActionPerformer(action: $0).perform() }
    var failures: [String: Int32] = [:]
    var touched: Set<String> = []
    for case .done(_, let directories) in steps { touched.formUnion(directories) }
    for directory in touched { failures[directory] = DirectoryDisk.synchronize(directory) }
    return zip(actions, steps).map { action, step in
      switch step {
      case .done(let message, let directories):
        let failed = directories.first { failures[$0] != nil && failures[$0] != ENOENT }
        guard let failed else { return FileActionOutcome(job: action.job, end: .done, message: message) }
        return later(action, "cannot bring \(failed) to the disk", now)
      case .failed(let message): return FileActionOutcome(job: action.job, end: .failed, message: message)
      case .later(let message): return later(action, message, now)
      }
    }
  }

  private static func later(_ action: PendingFileAction, _ message: String, _ now: Date) -> FileActionOutcome {
    let seconds = min(300.0, Double(1 << min(action.tries, 8)))
    return FileActionOutcome(
      job: action.job, end: .postponed(until: now.addingTimeInterval(seconds)), message: message)
  }
}
