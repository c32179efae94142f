/// Observes requests. There is one method and one enum, so new events need no new methods.
public protocol EventMonitor: Sendable {
  /// Called in the order of the events of one request, on the thread where each happens; must return quickly.
  func request(_ id: RequestID, did event: RequestEvent)
}
