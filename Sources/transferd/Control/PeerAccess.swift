import Glibc

/// Who may use the socket: the daemon's own user and root; for a system service also the members of a group.
struct PeerAccess: Equatable, Sendable {
  /// The daemon's own uid.
  var uid: UInt32
  /// The group that may connect; `nil`: none. The mode of the socket's file keeps other users out.
  var group: gid_t?

  func allows(_ peer: UInt32) -> Bool { peer == uid || peer == 0 || group != nil }
}
