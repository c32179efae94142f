/// Who wants to know about ends of jobs and batches: names that the daemon gives to webhooks and commands.
public struct DeliveryTargets: Equatable, Sendable {
  public var jobCompleted: [String] = []
  public var jobFailed: [String] = []
  public var batchEnd: [String] = []

  /// Most events that wait for one target, rounded up by one percent. The oldest ones are dropped.
  public var maximumWaiting = 100_000

  public init() {}

  var all: Set<String> { Set(jobCompleted + jobFailed + batchEnd) }

  public static let none = DeliveryTargets()
}
