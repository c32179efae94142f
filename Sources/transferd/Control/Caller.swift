import Glibc
import Store
import TransferAPI

/// Who asks: the uid at the other end of the socket, as the kernel reports it (`SO_PEERCRED`, unix(7)).
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

  var isMember: Bool { role == .member }

  /// Whose jobs this caller reaches.
  var scope: Scope { isMember ? .owner(uid) : .everything }

  /// Commands run, and files and variables are read, with the daemon's rights: only who has them may ask for it.
  func mayUse(_ reference: SecretReference) -> Bool {
    switch (role, reference) {
    case (.owner, _), (.root, .netrc), (.root, .environment), (.root, .file): true
    case (.root, .command), (.member, _): false
    }
  }
}
