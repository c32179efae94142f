import HTTPServer

extension AsyncSemaphore {
  /// Long lists of jobs and events are made by few tasks at a time, so that hundreds of clients that ask for them do not
  /// take all of Swift's threads from clients with short requests.
  static let longResponses = AsyncSemaphore(places: 4)
}
