import FoundationEssentials
import Glibc
import Logging
import Store
import Threads
import TransferAPI
import TransferEngine
import WireValues

/// Performs many file actions together, so that each directory is synced once.
enum FileActionRound {
  /// Maximum number of directories that are open at the same time.
  private static let maximumDirectories = 16
  /// Maximum delay in seconds between two attempts.
  static let maximumDelay = 300.0

  /// - Parameter rules: the rules for where a job's owner may change files.
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
        return postponed(action, "cannot sync \(failed) to disk", now)
      case .failed(let message): return FileActionOutcome(job: action.job, end: .failed, message: message)
      case .retryLater(let message): return postponed(action, message, now)
      }
    }
  }

  private static func postponed(_ action: PendingFileAction, _ message: String, _ now: Date) -> FileActionOutcome {
    let seconds = Backoff.seconds(afterFailure: action.attempts.saturatingSum(1), atMost: maximumDelay)
    return FileActionOutcome(
      job: action.job, end: .postponed(until: now.addingTimeInterval(seconds)), message: message)
  }
}
