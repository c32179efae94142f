public import FoundationEssentials

/// One try of a job: one row, written when it begins and again when it ends.
public struct Attempt: Codable, Equatable, Sendable {
  /// 1 for the job's first try, growing for ever.
  public var number: Int
  public var startedAt: Date
  /// `nil` while it runs, and for a try that was cut off with the daemon.
  public var endedAt: Date?
  public var outcome: Outcome?
  /// Offset it went on from.
  public var resumedFrom: Int64
  /// Body bytes that crossed the network in this try, those fetched again included; of an upload, those sent.
  public var bytesReceived: Int64
  public var httpStatus: Int?
  public var remoteAddress: String?
  /// `http/1.1`, `h2`, …
  public var networkProtocol: String?
  public var timings: Timings?
  public var error: JobFailure?

  public enum Outcome: String, Codable, CaseIterable, Sendable {
    case completed, failed, paused, cancelled, interrupted
  }

  /// Seconds since the try's start, as libcurl measured its last transfer. `curl_easy_getinfo(3)`
  public struct Timings: Codable, Equatable, Sendable {
    public var nameLookup: Double
    public var connect: Double
    public var tls: Double
    public var firstByte: Double
    public var total: Double
    public var connectionReused: Bool

    public init(
      nameLookup: Double, connect: Double, tls: Double, firstByte: Double, total: Double,
      connectionReused: Bool
    ) {
      self.nameLookup = nameLookup
      self.connect = connect
      self.tls = tls
      self.firstByte = firstByte
      self.total = total
      self.connectionReused = connectionReused
    }
  }

  public init(
    number: Int, startedAt: Date, endedAt: Date? = nil, outcome: Outcome? = nil,
    resumedFrom: Int64 = 0, bytesReceived: Int64 = 0, httpStatus: Int? = nil,
    remoteAddress: String? = nil, networkProtocol: String? = nil, timings: Timings? = nil,
    error: JobFailure? = nil
  ) {
    self.number = number
    self.startedAt = startedAt
    self.endedAt = endedAt
    self.outcome = outcome
    self.resumedFrom = resumedFrom
    self.bytesReceived = bytesReceived
    self.httpStatus = httpStatus
    self.remoteAddress = remoteAddress
    self.networkProtocol = networkProtocol
    self.timings = timings
    self.error = error
  }
}
