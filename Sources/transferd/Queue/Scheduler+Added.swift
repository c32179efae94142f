import Store

extension Scheduler {
  /// Called after jobs were added to the store. Jobs that existed before need no action.
  /// - Parameter haveTimes: whether one of them has a start time or a deadline.
  func didAdd(_ submissions: [Submission], haveTimes: Bool) {
    if haveTimes { checkTimes() }
    for submission in submissions {
      if let first = submission.blockedBy { blockingUploads.insert(first) }
    }
    if submissions.contains(where: { !$0.existing }) { wake() }
  }
}
