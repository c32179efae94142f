import Store
import TransferAPI

/// The commands that run when jobs end. They can be set only in the configuration.
struct HookConfiguration: Equatable, Sendable {
  /// Runs after a job completed.
  var onComplete: Command?
  /// Runs after a job failed.
  var onFailure: Command?
  var timeout = Duration.seconds(60)

  /// Maximum number of concurrent hooks.
  static let maximumConcurrent = 4

  func command(for kind: PendingHook.Kind) -> Command? {
    switch kind {
    case .complete: onComplete
    case .failure: onFailure
    }
  }

  func wantsHook(after event: JobEvent) -> Bool {
    switch event {
    case .complete: onComplete != nil
    case .fail, .expire: onFailure != nil
    case .claim, .pause, .resume, .cancel, .retry, .requeue, .postpone: false
    }
  }
}
