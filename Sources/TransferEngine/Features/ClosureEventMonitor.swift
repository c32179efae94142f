/// A monitor from a closure.
public struct ClosureEventMonitor: EventMonitor {
  private let closure: @Sendable (RequestID, RequestEvent) -> Void

  /// - Parameter closure: called in the order of the events of one request; must return quickly.
  public init(_ closure: @escaping @Sendable (RequestID, RequestEvent) -> Void) { self.closure = closure }

  public func request(_ id: RequestID, did event: RequestEvent) { closure(id, event) }
}
