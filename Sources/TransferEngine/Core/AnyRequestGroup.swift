/// A group of requests that share their work, without the type of the requests: the operations that a session needs.
protocol AnyRequestGroup: AnyObject, Sendable {
  /// Cancels all requests that have not ended.
  func cancelAll()
  /// Returns when all requests that were added have ended.
  func ended() async
}
