import Store

extension Scheduler {
  /// Called after jobs were added to the store. Jobs that existed before need no action.
  func didAdd(_ submissions: [Submission]) {
    for submission in submissions {
      if let first = submission.blockedBy { blockingUploads.insert(first) }
    }
    if submissions.contains(where: { !$0.existing }) { wake() }
  }
}
