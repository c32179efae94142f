/// Something that only some users of the socket may name or access. `holders` is the only table of who has which
/// privilege; all checks use ``Caller/has(_:)``.
enum Privilege: Hashable, CaseIterable, Sendable {
  /// Jobs, batches, events and spooled files of other users; the query's `owner`.
  case jobsOfOthers
  /// `daemon:stop` and `daemon:reload`.
  case daemonControl
  /// Paths outside the configured roots for members: ``PathPolicy``.
  case anyPath
  /// Addresses that are not public: ``NetworkRules``.
  case anyAddress
  /// The way to a server: a proxy, a host's address, a server that is not checked.
  case route
  /// `onSuccess` for files that belong to other users: ``FileOwnership``.
  case filesOfOthers
  /// A cloud profile of the daemon's user: ``PrivilegedCredentials``.
  case profile
  /// Cloud keys, SSH keys, the SSH agent and `netrc` of the daemon's user, used if a job has no credentials of its own:
  /// ``PrivilegedCredentials``.
  case serviceCredentials
  /// `netrc` as a reference.
  case netrcReference
  /// `env:NAME` as a reference.
  case environmentReference
  /// `file:PATH` as a reference.
  case fileReference
  /// `exec:COMMAND` as a reference. The command would run with the rights of the daemon's user, not with root's.
  case commandReference

  /// The roles that have the privilege. Members of the socket's group have none of them.
  var holders: Set<Caller.Role> {
    switch self {
    case .jobsOfOthers, .daemonControl: [.owner, .root]
    case .anyPath, .anyAddress, .route, .filesOfOthers: [.owner, .root]
    case .profile, .serviceCredentials: [.owner, .root]
    case .netrcReference, .environmentReference, .fileReference: [.owner, .root]
    case .commandReference: [.owner]
    }
  }
}
