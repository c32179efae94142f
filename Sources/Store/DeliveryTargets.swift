/// Who wants to know about ends of jobs and batches: names that the daemon gives to webhooks and commands.
public struct DeliveryTargets: Equatable, Sendable {
  public var jobCompleted: [String] = []
  public var jobFailed: [String] = []
  public var batchEnd: [String] = []

  public init() {}

  public static let none = DeliveryTargets()
}
