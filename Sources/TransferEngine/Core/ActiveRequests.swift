import Synchronization

/// The requests of a session that have started and not ended.
final class ActiveRequests: Sendable {
  private let requests = Mutex<[RequestID: any AnyRequestCore]>([:])
  private let requestGroups = Mutex<[ObjectIdentifier: any AnyRequestGroup]>([:])

  func insert(_ request: any AnyRequestCore) { requests.withLock { $0[request.id] = request } }
  func remove(_ id: RequestID) { requests.withLock { _ = $0.removeValue(forKey: id) } }

  func insert(_ group: any AnyRequestGroup) { requestGroups.withLock { $0[ObjectIdentifier(group)] = group } }
  func remove(_ group: any AnyRequestGroup) {
    requestGroups.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(group)) }
  }

  /// The current requests, the oldest first. Requests of groups are not among them, unless they have left their group.
  var all: [any AnyRequestCore] {
    requests.withLock { Array($0.values) }.sorted { $0.id.rawValue < $1.id.rawValue }
  }

  /// The groups with requests that have not ended.
  var groups: [any AnyRequestGroup] { requestGroups.withLock { Array($0.values) } }
}
