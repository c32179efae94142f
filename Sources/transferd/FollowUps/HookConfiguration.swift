import Store
import TransferAPI

/// The commands that run when jobs end. They can be set only in the configuration.
struct HookConfiguration: Equatable, Sendable {
  /// Runs after a job completed.
  var onComplete: Command?
  /// Runs after a job failed.
  var onFailure: Command?
  /// Runs after a batch ended.
  var onBatchEnd: Command?
  var webhooks: [Webhook] = []
  var timeout = Duration.seconds(60)

  /// Maximum number of concurrent hooks.
  static let maximumConcurrent = 4

  /// The name of ``onBatchEnd`` as a target of deliveries.
  static let batchEndTarget = "onBatchEnd"

  /// Who gets events.
  var targets: DeliveryTargets {
    func names(_ event: DeliveryEvent) -> [String] { webhooks.filter { $0.events.contains(event) }.map(\.target) }
    var targets = DeliveryTargets()
    (targets.jobCompleted, targets.jobFailed) = (names(.jobCompleted), names(.jobFailed))
    targets.batchEnd = (onBatchEnd == nil ? [] : [Self.batchEndTarget]) + names(.batchEnd)
    return targets
  }

  func command(for kind: PendingHook.Kind) -> Command? {
    switch kind {
    case .complete: onComplete
    case .failure: onFailure
    }
  }

  /// Whether a command or a webhook gets the event.
  func wantsFollowUp(after event: JobEvent) -> Bool {
    if wantsHook(after: event) { return true }
    switch event {
    case .complete: return !targets.jobCompleted.isEmpty
    case .fail, .expire: return !targets.jobFailed.isEmpty
    case .claim, .pause, .resume, .cancel, .retry, .requeue, .postpone: return false
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
