import Glibc
import Store
import TransferAPI

/// The user who makes a request: the uid at the other end of the socket, as the kernel reports it (`SO_PEERCRED`, unix(7)).
struct Caller: Equatable, Sendable {
  enum Role: Equatable, Sendable {
    /// The user that the daemon runs as.
    case owner
    case root
    /// Any other user who can open the socket: a member of its group.
    case member
  }

  let uid: UInt32
  let role: Role

  /// - Parameter daemon: the daemon's own uid.
  init(uid: UInt32, daemon: UInt32) {
    self.uid = uid
    role = uid == daemon ? .owner : uid == 0 ? .root : .member
  }

  private init(uid: UInt32, role: Role) {
    self.uid = uid
    self.role = role
  }

  /// The user that this process runs as.
  static var owner: Caller { Caller(uid: geteuid(), role: .owner) }
  static let root = Caller(uid: 0, role: .root)
  static func member(_ uid: UInt32) -> Caller { Caller(uid: uid, role: .member) }

  /// Whether the caller has the privilege.
  func has(_ privilege: Privilege) -> Bool { privilege.holders.contains(role) }

  /// The jobs that this caller can access.
  var scope: Scope { has(.jobsOfOthers) ? .everything : .owner(uid) }

  /// Whether a job of this caller may name a secret by the reference: the daemon reads it, or runs it, with its own rights.
  func mayUse(_ reference: SecretReference) -> Bool {
    switch reference {
    case .netrc: has(.netrcReference)
    case .environment: has(.environmentReference)
    case .file: has(.fileReference)
    case .command: has(.commandReference)
    }
  }
}
