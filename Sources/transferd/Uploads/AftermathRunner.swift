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
      let paths = runner.paths
      let outcomes = await BlockingWork.run {
        FileActionRound.perform(actions, now: now) { paths.rules(for: $0, .write) }
      }
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
  /// Directories that are held open at once.
  private static let maximumDirectories = 16

  /// - Parameter rules: where the owner of a job may change files.
  static func perform(
    _ actions: [PendingFileAction], now: Date, rules: (UInt32) -> PathRules = { _ in .none }
  ) -> [FileActionOutcome] {
    var outcomes: [FileActionOutcome] = []
    var steps: [FileActionPerformer.Step] = []
    var directories = OpenDirectories()
    for action in actions {
      let performer = FileActionPerformer(action: action, rules: rules(action.owner), directories: directories)
      steps.append(performer.perform())
      guard directories.count >= maximumDirectories else { continue }
      outcomes += synchronized(steps, of: actions[outcomes.count...], now)
      steps = []
      directories = OpenDirectories()
    }
    return outcomes + synchronized(steps, of: actions[outcomes.count...], now)
  }

  private static func synchronized(
    _ steps: [FileActionPerformer.Step], of actions: ArraySlice<PendingFileAction>, _ now: Date
  ) -> [FileActionOutcome] {
    var failures: [DirectoryIdentity: String] = [:]
    var synchronized: Set<DirectoryIdentity> = []
    for case .done(_, let directories) in steps {
      for directory in directories where synchronized.insert(directory.identity).inserted {
        do { try directory.synchronize() } catch { failures[directory.identity] = directory.path }
      }
    }
    return zip(actions, steps).map { action, step in
      switch step {
      case .done(let message, let directories):
        guard let failed = directories.lazy.compactMap({ failures[$0.identity] }).first else {
          return FileActionOutcome(job: action.job, end: .done, message: message)
        }
        return later(action, "cannot sync \(failed) to disk", now)
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
