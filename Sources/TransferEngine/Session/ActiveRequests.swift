public import Dispatch
import Synchronization

/// The requests of a session that have begun and not ended.
final class ActiveRequests: Sendable {
  private let requests = Mutex<[RequestID: any RequestSteering]>([:])

  func insert(_ request: any RequestSteering) { requests.withLock { $0[request.id] = request } }
  func remove(_ id: RequestID) { requests.withLock { _ = $0.removeValue(forKey: id) } }

  /// Those of this moment, the oldest first.
  var all: [any RequestSteering] {
    requests.withLock { Array($0.values) }.sorted { $0.id.rawValue < $1.id.rawValue }
  }
}

/// A request of a session, whatever its kind, as `withAllRequests` shows it.
public final class ActiveRequest: Request {
  public let control: RequestControl

  init(_ core: any RequestSteering) { control = RequestControl(core: core) }
}

extension Session {
  /// Calls the closure, before this returns, with all requests that have begun and not ended: those that run, are
  /// suspended, or wait to be tried again. The oldest comes first.
  public func withAllRequests<Result, Failure: Error>(
    perform action: ([ActiveRequest]) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try action(active.all.map(ActiveRequest.init))
  }

  /// Cancels all requests that have begun and not ended.
  /// - Parameter completion: called when the last of them has ended, on the queue where one is given.
  /// - Parameter queue: where `completion` is called; `nil`: on one of Swift's threads.
  public func cancelAllRequests(
    completingOnQueue queue: DispatchQueue? = nil, completion: (@Sendable () -> Void)? = nil
  ) {
    let all = active.all
    for request in all { request.cancel() }
    guard let completion else { return }
    Task {
      for request in all { await request.ended() }
      if let queue { queue.async(execute: completion) } else { completion() }
    }
  }
}
