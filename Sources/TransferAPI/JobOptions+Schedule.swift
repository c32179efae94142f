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

    public init() {}

    mutating func visit(_ visitor: inout some OptionVisitor) throws {
      try visitor.option("notBefore", &notBefore, default: nil)
      try visitor.option("deadline", &deadline, default: nil)
      try visitor.seconds("retryFor", &retryFor)
    }

    /// - Throws: `WireError` for times that exclude each other.
    func check() throws(WireError) {
      if let notBefore, let deadline, deadline <= notBefore {
        throw WireError("the deadline is not after notBefore: the job could never run")
      }
    }
  }
}
