import HTTPServer

extension AsyncSemaphore {
  /// Limits how many tasks make long lists of jobs and events at the same time, so that hundreds of clients with such
  /// requests leave threads for clients with short requests. The users take turns.
  static let longResponses = AsyncSemaphore(places: 4)
}
