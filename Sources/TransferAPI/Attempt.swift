public import FoundationEssentials

/// One attempt of a job. Its row is written when it ends; until then it is read from the job's row.
public struct Attempt: Codable, Equatable, Sendable {
  /// The number of the attempt in its job, from 1. It is never reset.
  public var number: Int
  public var startedAt: Date
  /// `nil` while it runs, and for an attempt that the end of the daemon interrupted.
  public var endedAt: Date?
  public var outcome: Outcome?
  /// The offset from which it resumed.
  public var resumedFrom: Int64
  /// Body bytes received in this attempt, including bytes fetched again; for an upload, the bytes sent.
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

  /// Seconds since the start of the attempt's last transfer, as libcurl measured them. `curl_easy_getinfo(3)`
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
