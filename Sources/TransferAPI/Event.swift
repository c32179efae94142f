public import FoundationEssentials

/// One line of the history: every change of a job's state, with its reason. A line never changes, and its number is
/// never reused.
public struct Event: Codable, Equatable, Sendable {
  /// Grows with every event; the `id:` in the event stream.
  public var seq: Int64
  public var job: JobID
  public var at: Date
  public var kind: Kind
  /// `nil` when the job was added.
  public var from: JobState?
  /// `nil` when the job was removed.
  public var to: JobState?
  /// Why, for people.
  public var reason: String?
  public var error: JobFailure?
  /// What the job has done, when it completed without a transfer: `unchanged` or `skipped`. `nil` for all other events.
  public var result: JobResult?

  public enum Kind: String, Codable, CaseIterable, Sendable {
    /// Added: `from` is nil.
    case added
    /// The state changed.
    case state
    /// The priority, limit or URL changed. Or, with the reason: what happened to an uploaded file, how a hook ended, or
    /// that an unfinished upload was deleted on the server.
    case changed
    /// Removed: `to` is nil.
    case removed
  }

  public init(
    seq: Int64, job: JobID, at: Date, kind: Kind, from: JobState? = nil, to: JobState? = nil,
    reason: String? = nil, error: JobFailure? = nil, result: JobResult? = nil
  ) {
    self.seq = seq
    self.job = job
    self.at = at
    self.kind = kind
    self.from = from
    self.to = to
    self.reason = reason
    self.error = error
    self.result = result
  }
}
