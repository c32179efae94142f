import Synchronization

/// Counts the connections of each user, so that one user cannot take them all.
final class UserConnections: Sendable {
  /// What happens to a new connection.
  enum Admission: Equatable, Sendable {
    case admitted
    /// The error is the response to any request of the client. `lingers`: the client may send its request and read the
    /// response before the connection is closed, as most clients do.
    case refused(RequestError, lingers: Bool)
  }

  private struct State {
    var others = 0
    var byUser: [UInt32?: Int] = [:]
    var lingering = 0
  }

  /// Refused connections that may linger at the same time. Others are closed at once, so that a flood of them costs nothing.
  static let maximumLingering = 32

  private let limits: ServerLimits
  private let state = Mutex(State())

  init(_ limits: ServerLimits) { self.limits = limits }

  /// Counts a connection. Call ``leave(_:_:)`` when it has ended.
  func enter(_ uid: UInt32?) -> Admission {
    guard !limits.isPrivileged(uid) else { return .admitted }
    let limit = min(limits.connectionsPerUser, limits.connectionsOfOthers)
    return state.withLock { state in
      let own = state.byUser[uid] ?? 0
      guard own < limit, state.others < limits.connectionsOfOthers else {
        let lingers = state.lingering < Self.maximumLingering
        if lingers { state.lingering += 1 }  // checked: below the limit
        return .refused(.tooManyConnections(limit: limit), lingers: lingers)
      }
      state.byUser[uid] = own + 1  // checked: below the limit
      state.others += 1  // checked: below the limit
      return .admitted
    }
  }

  func leave(_ uid: UInt32?, _ admission: Admission) {
    guard !limits.isPrivileged(uid) else { return }
    state.withLock { state in
      switch admission {
      case .admitted:
        state.others -= 1  // checked: entered before
        let rest = (state.byUser[uid] ?? 1) - 1  // checked: entered before
        state.byUser[uid] = rest > 0 ? rest : nil
      case .refused(_, lingers: true): state.lingering -= 1  // checked: entered before
      case .refused(_, lingers: false): break
      }
    }
  }
}
