import Store

/// Decides what happens to a job that was running when the daemon crashed. Pure.
///
/// A crash mark shows that the daemon's own process caused the crash, so every running job is a suspect. After its second
/// mark a job runs in isolation. If the daemon then crashes again, the isolated job is the cause.
enum CrashVerdict: Equatable, Sendable {
  /// The job is recovered as after any other abrupt end.
  case resume
  /// The job is requeued without reading its stored data, because the daemon may have crashed during recovery.
  case resumeUnchecked
  /// The job crashes the daemon.
  case fail

  /// The number of marks at which an isolated job fails.
  static let limit = JobRecord.marksToRunAlone + 1

  /// - Parameters:
  ///   - marks: the job's crash marks, including this crash.
  ///   - isMarked: whether the daemon's last run left a crash mark.
  ///   - ranAlone: whether no other job was running.
  init(marks: Int, isMarked: Bool, ranAlone: Bool) {
    guard isMarked, marks >= Self.limit else {
      self = .resume
      return
    }
    self = ranAlone ? .fail : .resumeUnchecked
  }

  static func message(_ mark: CrashMark, marks: Int) -> String {
    "cannot run this job: it crashes the daemon (\(mark.signalName)), \(marks) times so far, the last time with no other "
      + "job running; please report it with the job's URL and transferd's log, "
      + "or run `transferctl retry` to try the job again"
  }

  static func reason(_ mark: CrashMark, marks: Int) -> String {
    let times = marks > 1 ? " \(marks) times" : ""
    let consequence = marks >= JobRecord.marksToRunAlone ? "; it will run alone, after other jobs" : ""
    return "the daemon crashed (\(mark.signalName))\(times) while this job ran\(consequence)"
  }
}
