public import Dispatch

extension Session {
  /// Calls the closure, before this returns, with all requests that have started and not ended: running, suspended, or
  /// waiting for a retry. The oldest comes first. Requests of a group are among them after they have left their group.
  public func withAllRequests<Result, Failure: Error>(
    perform action: ([ActiveRequest]) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try action(active.all.map(ActiveRequest.init))
  }

  /// Cancels all requests that have started and not ended, and all requests of groups.
  /// - Parameters:
  ///   - queue: where `completion` is called; `nil`: on one of Swift's threads.
  ///   - completion: called when the last of them has ended.
  public func cancelAllRequests(
    completingOnQueue queue: DispatchQueue? = nil, completion: (@Sendable () -> Void)? = nil
  ) {
    let (groups, all) = (active.groups, active.all)
    for group in groups { group.cancelAll() }
    for request in all { request.cancel() }
    guard let completion else { return }
    Task {
      for request in all { await request.ended() }
      for group in groups { await group.ended() }
      if let queue { queue.async(execute: completion) } else { completion() }
    }
  }
}
