/// What a session can do with requests that share their work.
protocol AnyRequestGroup: AnyObject, Sendable {
  /// Cancels all requests that have not ended.
  func cancelAll()
  /// Returns when all requests that were added have ended.
  func ended() async
}
