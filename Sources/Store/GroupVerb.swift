import TransferAPI

/// The SQL of a verb that is applied to many jobs at once: which rows one statement may change, and how.
///
/// Pure. A job is *plain* for a verb if the verb changes only its row and its history. Jobs with files, uploads on
/// servers, secrets or a place in a line of uploads are not plain: they are handled one by one.
struct GroupVerb {
  let verb: JobVerb

  /// The states that the verb changes, without `running`.
  var states: [JobState] {
    switch verb {
    case .pause: [.queued, .retrying]
    case .resume: [.paused]
    case .cancel: [.queued, .retrying, .paused]
    case .retry: [.failed, .cancelled, .retrying]
    case .remove: JobState.allCases.filter { $0 != .running }
    }
  }

  /// Whether the verb ends the attempt of a running job.
  var stopsAttempts: Bool {
    switch verb {
    case .pause, .cancel, .remove: true
    case .resume, .retry: false
    }
  }

  /// The state of a changed job; `nil`: it is removed.
  var newState: JobState? {
    switch verb {
    case .pause: .paused
    case .resume, .retry: .queued
    case .cancel: .cancelled
    case .remove: nil
    }
  }

  /// The condition on `job`, in SQL, that makes a job in one of `states` plain.
  var plain: String {
    let isOutsideLine = """
      (kind = 'download' OR blocked_by IS NULL
        AND NOT EXISTS (SELECT 1 FROM job AS next WHERE next.blocked_by = job.id))
      """
    let hasNothing = "started_at IS NULL AND spool IS NULL AND resume_data IS NULL AND bytes_done = 0"
    return switch verb {
    case .pause, .resume: "1"
    case .cancel: "\(hasNothing) AND \(isOutsideLine)"
    case .retry:
      """
      kind = 'download' AND (finished_at IS NULL OR chooses_name = 1 OR NOT EXISTS (
        SELECT 1 FROM job AS other INDEXED BY job_destination
        WHERE other.destination = job.destination AND other.kind = 'download' AND other.finished_at IS NULL
          AND other.chooses_name = 0 AND substr(other.destination, -1) <> '/'))
      """
    case .remove: "secret IS NULL AND (state = 'completed' OR \(hasNothing)) AND \(isOutsideLine)"
    }
  }

  /// Changes the jobs whose ids are in `:ids`, a JSON array. Of several jobs that would get the same destination, `retry`
  /// changes the first.
  var change: String {
    let ofIDs = "WHERE id IN (SELECT value FROM json_each(:ids))"
    return switch verb {
    case .pause: "UPDATE job SET state = 'paused', retry_at = NULL, failing_since = NULL \(ofIDs)"
    case .resume: "UPDATE job SET state = 'queued' \(ofIDs)"
    case .cancel:
      """
      UPDATE job SET state = 'cancelled', retry_at = NULL, finished_at = :now,
        error_code = :error_code, error_message = :error_message, error_status = :error_status,
        error_transient = :error_transient
      \(ofIDs)
      """
    case .retry:
      """
      UPDATE OR IGNORE job SET state = 'queued', attempt = 0, crashes = 0, crash_marks = 0, retry_at = NULL,
        retry_delay = 0, failing_since = NULL, deadline = CASE WHEN deadline > :now THEN deadline END,
        finished_at = NULL, error_code = NULL, error_message = NULL, error_status = NULL, error_transient = NULL
      \(ofIDs)
      """
    case .remove: "DELETE FROM job \(ofIDs)"
    }
  }

  /// The jobs among `:ids` that `retry` has changed.
  static let queuedAmong = """
    SELECT id FROM job WHERE id IN (SELECT value FROM json_each(:ids)) AND state = 'queued' ORDER BY id
    """

  /// Plain jobs of one owner, or of one batch, in one state.
  func rows(inBatch: Bool) -> String {
    """
    SELECT id, batch, bytes_done, bytes_total, result FROM job \(Self.range(inBatch: inBatch))
      AND id > :after AND id <= :last AND \(plain) ORDER BY id LIMIT :limit
    """
  }

  /// The jobs that are still in a state after the plain ones were changed, and that the verb may change.
  func others(inBatch: Bool, state: JobState) -> String {
    // A retry makes a queued job forget its crash marks.
    let condition = verb == .retry && state == .queued ? " AND crash_marks > 0" : ""
    return "SELECT id FROM job \(Self.range(inBatch: inBatch)) AND id <= :last\(condition) ORDER BY id"
  }

  static func count(inBatch: Bool) -> String { "SELECT count(*) AS jobs FROM job \(range(inBatch: inBatch))" }

  private static func range(inBatch: Bool) -> String {
    inBatch
      ? "INDEXED BY job_batch_state WHERE batch = :batch AND owner = :owner AND state = :state"
      : "INDEXED BY job_owner_state WHERE owner = :owner AND state = :state"
  }
}
