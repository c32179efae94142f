public import FoundationEssentials

extension JobOptions {
  /// When a job may run, and how long it is tried. Downloads and uploads have these options.
  public struct Schedule: Equatable, Sendable {
    /// The job does not begin before this time.
    public var notBefore: Date?
    /// If the job has not ended by this time, it fails with the code `deadline`. Its bytes are kept.
    public var deadline: Date?
    /// Seconds for which failed attempts are repeated, from the first failure since the last progress; `nil`: only their number
    /// counts.
    public var retryFor: Double?
    /// The hours in which the job may run; `nil`: at any time.
    public var window: DailyWindow?
    /// The job does not begin before all of these have completed.
    public var after: [JobDependency] = []

    public init() {}

    mutating func visit(_ visitor: inout some OptionVisitor) throws {
      try visitor.option("notBefore", &notBefore, default: nil)
      try visitor.option("deadline", &deadline, default: nil)
      try visitor.seconds("retryFor", &retryFor)
      try visitor.option("window", &window, default: nil)
      try visitor.option("after", &after, default: [])
    }

    /// - Throws: `WireError` for times that exclude each other, and for too many dependencies.
    func check() throws(WireError) {
      guard after.count <= JobDependency.maximum else {
        throw WireError(
          text: "\(field: "after") has more than \(JobDependency.maximum) jobs and batches; name a batch of them")
      }
      if let notBefore, let deadline, deadline <= notBefore {
        throw WireError(
          text: "\(field: "deadline") is not later than \(field: "notBefore"): the job could never run")
      }
    }
  }
}
