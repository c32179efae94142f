import TransferEngine

/// The directories that jobs of members of the socket's group may use. None is allowed by default.
struct MemberRoots: Equatable, Sendable {
  /// Files below these may be uploaded.
  var read: [String] = []
  /// Downloads may be written below these, and uploaded files may be moved there.
  var write: [String] = []
}
