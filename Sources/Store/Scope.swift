/// Whose jobs a call reaches. Every query and every change that a caller causes takes one, without a default: a call
/// that forgets it does not compile. For the call, jobs outside the scope do not exist.
public enum Scope: Hashable, Sendable {
  /// The jobs of all users: for the daemon's own user, root, and the daemon itself.
  case everything
  /// The jobs of the user with this uid.
  case owner(UInt32)

  public func includes(_ owner: UInt32) -> Bool {
    switch self {
    case .everything: true
    case .owner(let uid): uid == owner
    }
  }

  /// `nil`: all users.
  var uid: UInt32? { if case .owner(let uid) = self { uid } else { nil } }
}
