/// Live numbers of a running job; `event: progress` of the event stream. Coalesced to at most 4 a second a job.
public struct Progress: Codable, Equatable, Sendable {
  public var job: JobID
  public var bytesDone: Int64
  public var bytesTotal: Int64?
  public var bytesPerSecond: Int64

  public init(job: JobID, bytesDone: Int64, bytesTotal: Int64?, bytesPerSecond: Int64) {
    self.job = job
    self.bytesDone = bytesDone
    self.bytesTotal = bytesTotal
    self.bytesPerSecond = bytesPerSecond
  }
}
