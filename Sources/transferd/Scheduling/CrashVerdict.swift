import Store

/// What a crash of the daemon means for a job that was running. Pure.
///
/// A crash that left a mark has a cause in the daemon's own process, and every job that ran is suspected. Each mark makes the
/// circle smaller: from the second one on the job runs alone, and one that crashes the daemon while it runs alone has done it.
enum CrashVerdict: Equatable, Sendable {
  /// It goes on as after any other abrupt end.
  case goOn
  /// It goes on, but nothing that is stored of it is looked at: the daemon crashed even while it recovered jobs.
  case goOnUnseen
  /// It takes the daemon down.
  case fail

  /// Marks after which a job is given up if it ran alone.
  static let limit = JobRecord.marksToRunAlone + 1

  /// - Parameters:
  ///   - marks: of the job, this crash included.
  ///   - isMarked: whether this end of the daemon left a mark.
  ///   - isAlone: whether no other job was running.
  init(marks: Int, isMarked: Bool, isAlone: Bool) {
    guard isMarked, marks >= Self.limit else {
      self = .goOn
      return
    }
    self = isAlone ? .fail : .goOnUnseen
  }

  static func message(_ mark: CrashMark, marks: Int) -> String {
    "the daemon crashed (\(mark.signalName)) \(marks) times while this job ran, the last time while nothing else ran: "
      + "this job takes the daemon down. Please report it with the job's URL and transferd's log; "
      + "`transferctl retry` tries the job again"
  }

  static func reason(_ mark: CrashMark, marks: Int) -> String {
    let times = marks > 1 ? " \(marks) times" : ""
    let consequence = marks >= JobRecord.marksToRunAlone ? "; it will run alone, after other jobs" : ""
    return "the daemon crashed (\(mark.signalName))\(times) while this job ran\(consequence)"
  }
}
