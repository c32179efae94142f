public import FoundationEssentials

/// The longest waits, in seconds, for which follow-up work is ever postponed.
public struct FollowUpWaits: Sendable {
  public var fileAction: TimeInterval
  public var remoteCleanup: TimeInterval
  public var delivery: TimeInterval

  public init(fileAction: TimeInterval, remoteCleanup: TimeInterval, delivery: TimeInterval) {
    self.fileAction = fileAction
    self.remoteCleanup = remoteCleanup
    self.delivery = delivery
  }
}

extension Store {
  /// Follow-up work that waits for longer than it was ever postponed shows that the clock was set back: it is due now.
  /// Otherwise new events for a target would wait with the old ones.
  public func replanFollowUps(longest: FollowUpWaits, now: Date) async throws(StoreError) {
    let (actions, cleanups, deliveries) = (
      now.addingTimeInterval(longest.fileAction), now.addingTimeInterval(longest.remoteCleanup),
      now.addingTimeInterval(longest.delivery)
    )
    try await queue.run(weight: 3) { transaction in
      try transaction.run("UPDATE file_action SET next_at = :now WHERE next_at > :latest") { bind in
        bind("now", now)
        bind("latest", actions)
      }
      // What is given up after a time is not kept longer because of the wrong clock.
      try transaction.run(
        "UPDATE remote_cleanup SET next_at = :now, created_at = min(created_at, :now) WHERE next_at > :latest"
      ) { bind in
        bind("now", now)
        bind("latest", cleanups)
      }
      try transaction.run(
        "UPDATE delivery SET next_at = :now, created_at = min(created_at, :now) WHERE next_at > :latest"
      ) { bind in
        bind("now", now)
        bind("latest", deliveries)
      }
    }
  }
}
