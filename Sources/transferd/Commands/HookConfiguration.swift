import Store
import TransferAPI

/// The commands that are told of a job's end. They come from the configuration alone.
struct HookConfiguration: Equatable, Sendable {
  /// After `completed`.
  var onComplete: Command?
  /// After `failed`.
  var onFailure: Command?
  var timeout = Duration.seconds(60)

  /// Hooks that run at once.
  static let atOnce = 4

  func command(for kind: PendingHook.Kind) -> Command? {
    switch kind {
    case .complete: onComplete
    case .failure: onFailure
    }
  }

  func wantsHook(after event: JobEvent) -> Bool {
    switch event {
    case .complete: onComplete != nil
    case .fail: onFailure != nil
    case .claim, .pause, .resume, .cancel, .retry, .requeue, .postpone: false
    }
  }
}
