import Logging
import Store

extension HookConfiguration {
  /// From now on the store keeps events for these targets.
  func apply(to store: Store, _ logger: Logger, onBatchEnd: @escaping @Sendable () -> Void) {
    let webhooks = webhooks
    store.setDeliveryTargets(
      targets, onBatchEnd: onBatchEnd,
      onDrop: { target, count in
        let name = webhooks.first { $0.target == target }?.shown ?? target
        logger.error(
          "too many events wait for a target; the oldest ones are dropped",
          metadata: ["target": "\(name)", "events": "\(count)"])
      })
  }
}
