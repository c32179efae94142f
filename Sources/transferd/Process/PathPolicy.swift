import Glibc
import Synchronization
import TransferEngine

/// The directories that members of the socket's group may name. Nothing is allowed by default.
struct MemberRoots: Equatable, Sendable {
  /// Files below these may be uploaded.
  var read: [String] = []
  /// Downloads, and files that were uploaded, may be put below these.
  var write: [String] = []
}

/// Where the paths of jobs may lead, for each user, and whose credentials their requests may use.
///
/// What is transferd's own (the state directory, its runtime directory, its socket) is closed to everybody: the daemon itself
/// reaches its spool by token, and its other files without rules. The service's home, which holds keys and profiles, and the
/// files that its configuration names are closed to members; and members stay below the directories that are configured for
/// them.
final class PathPolicy: Sendable {
  enum Access: Sendable { case read, write }

  /// The daemon's own uid.
  private let daemon: UInt32
  private let own: PathRules
  private let forMembers: PathRules
  private let roots: Mutex<MemberRoots>

  /// - Parameters:
  ///   - daemon: the daemon's own uid.
  ///   - state: the state directory.
  ///   - socket: the control socket.
  ///   - runtimeDirectory: transferd's own; `nil` if the socket is in a directory that others use, too.
  ///   - homes: of the daemon's user: HOME and what the user database says.
  ///   - files: that the configuration and the environment name.
  init(
    daemon: UInt32, state: String, socket: String, runtimeDirectory: String?, homes: [String] = [],
    files: [String] = [], roots: MemberRoots = MemberRoots()
  ) {
    self.daemon = daemon
    self.roots = Mutex(roots)
    let reason = "it belongs to transferd itself"
    var own = PathRules(directories: [.init(state, reason: reason)], files: [.init(socket, reason: reason)])
    if let runtimeDirectory { own.directories.append(.init(runtimeDirectory, reason: reason)) }
    self.own = own
    for home in homes {
      own.directories.append(.init(home, reason: "it is in the home directory of the user that runs transferd"))
    }
    own.files += files.map { .init($0, reason: "transferd's configuration names it") }
    forMembers = own
  }

  /// Takes effect for attempts that begin from now on.
  func setRoots(_ roots: MemberRoots) { self.roots.withLock { $0 = roots } }

  /// Whether a job's owner is a member of the socket's group, neither the daemon's user nor root.
  func isMember(_ uid: UInt32) -> Bool { uid != daemon && uid != 0 }

  /// The rules for the paths of a job.
  /// - Parameter uid: the job's owner.
  func rules(for uid: UInt32, _ access: Access) -> PathRules {
    guard isMember(uid) else { return own }
    let roots = roots.withLock { $0 }
    var rules = forMembers
    let (key, list, verb) =
      switch access {
      case .read: ("memberReadRoots", roots.read, "read")
      case .write: ("memberWriteRoots", roots.write, "write")
      }
    rules.roots = list
    rules.linkOwner = uid
    let allowed = list.isEmpty ? "none is configured" : "they are \(list.joined(separator: ", "))"
    rules.outsideReason = "members of the socket's group may \(verb) only below the directories in \(key); \(allowed)"
    return rules
  }

  /// The rules for a file that was spooled: it is in the spool, and nowhere else.
  static func spoolRules(_ directory: String) -> PathRules {
    PathRules(roots: [directory], outsideReason: "it is not in the spool of transferd")
  }

  /// The socket's directory if it is transferd's own: made by systemd for the service, or called `transferd` in a runtime
  /// directory. Others, such as `/tmp` or `/run/user/UID`, are shared: only the socket in them is transferd's.
  static func runtimeDirectory(of socket: String, environment: [String: String], uid: UInt32) -> String? {
    func normal(_ path: some StringProtocol) -> String { "/" + path.split(separator: "/").joined(separator: "/") }
    let directory = normal(socket.split(separator: "/").dropLast().joined(separator: "/"))
    let made = environment["RUNTIME_DIRECTORY"]?.split(separator: ":").map { normal($0) } ?? []
    let bases = [environment["XDG_RUNTIME_DIR"] ?? "", "/run/user/\(uid)", "/run", "/var/run"]
    let usual = bases.filter { !$0.isEmpty }.map { normal($0) + "/transferd" }
    return made.contains(directory) || usual.contains(directory) ? directory : nil
  }
}
