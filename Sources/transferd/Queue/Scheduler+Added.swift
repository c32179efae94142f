import Store

extension Scheduler {
  /// Called after jobs were added to the store. Jobs that existed before need no action.
  /// - Parameters:
  ///   - haveTimes: whether one of them has a start time, a deadline or a window.
  ///   - haveDependencies: whether one of them waits for other jobs.
  func didAdd(_ submissions: [Submission], haveTimes: Bool, haveDependencies: Bool = false) {
    if haveTimes { checkTimes() }
    if haveDependencies { followDependencies() }
    for submission in submissions {
      if let first = submission.blockedBy { blockingUploads.insert(first) }
    }
    if submissions.contains(where: { !$0.existing }) { wake() }
  }
}
