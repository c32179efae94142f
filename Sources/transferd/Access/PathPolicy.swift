import Glibc
import Store
import Synchronization
import TransferEngine
import WireValues

/// Which paths the jobs of each user may use, and which users' requests may use the service's credentials.
///
/// No job may use transferd's own files: the state directory, its runtime directory and its socket. Spooled files are
/// accessed by token. Members may not use the service's home directory, which holds keys and profiles, or files named in
/// the configuration, and they may use only the directories that are configured for them.
final class PathPolicy: Sendable {
  enum Access: Sendable { case read, write }

  /// The daemon's own uid.
  private let daemon: UInt32
  private let own: PathRules
  /// The rules for members without what can change.
  private let forMembers: PathRules
  private let changeable: Mutex<(roots: MemberRoots, files: [PathRules.Protected])>

  /// - Parameters:
  ///   - daemon: the daemon's own uid.
  ///   - state: the state directory.
  ///   - socket: the control socket.
  ///   - runtimeDirectory: transferd's runtime directory; `nil` if the socket is in a shared directory.
  ///   - homes: the home directories of the daemon's user: HOME and the entry in the user database.
  ///   - files: the files that the configuration and the environment name.
  init(
    daemon: UInt32, state: String, socket: String, runtimeDirectory: String?, homes: [String] = [],
    files: [String] = [], roots: MemberRoots = MemberRoots()
  ) {
    self.daemon = daemon
    changeable = Mutex((roots, Self.protected(files)))
    let reason = "it belongs to transferd itself"
    var own = PathRules(directories: [.init(state, reason: reason)], files: [.init(socket, reason: reason)])
    if let runtimeDirectory { own.directories.append(.init(runtimeDirectory, reason: reason)) }
    self.own = own
    for home in homes {
      own.directories.append(.init(home, reason: "it is in the home directory of the user that runs transferd"))
    }
    forMembers = own
  }

  /// Changes the members' directories and the files that the configuration names, for attempts that start from now on.
  func set(_ roots: MemberRoots, files: [String]) {
    let files = Self.protected(files)
    changeable.withLock { $0 = (roots, files) }
  }

  private static func protected(_ files: [String]) -> [PathRules.Protected] {
    files.map { .init($0, reason: "transferd's configuration names it") }
  }

  /// Whether the jobs of a user may use the credentials of the daemon's user.
  func mayUseServiceCredentials(_ owner: UInt32) -> Bool { Caller(uid: owner, daemon: daemon).has(.serviceCredentials) }

  /// The rules for the paths of a job.
  /// - Parameter uid: the job's owner.
  func rules(for uid: UInt32, _ access: Access) -> PathRules {
    guard !Caller(uid: uid, daemon: daemon).has(.anyPath) else { return own }
    let (roots, files) = changeable.withLock { $0 }
    var rules = forMembers
    rules.files += files
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

  /// The rules for the file of a download, or of a relay's first phase.
  func rules(forFileOf download: JobSpec) -> PathRules {
    guard download.spool != nil else { return rules(for: download.owner, .write) }
    return Self.spoolRules(download.destination.parentPath.parentPath)
  }

  /// The rules for a spooled file: it must be in the spool.
  static func spoolRules(_ directory: String) -> PathRules {
    PathRules(roots: [directory], outsideReason: "it is not in transferd's spool")
  }

  /// The socket's directory if it belongs to transferd: systemd created it for the service, or it is named `transferd` in a
  /// runtime directory. Other directories, such as `/tmp` or `/run/user/UID`, are shared; only the socket in them belongs to
  /// transferd.
  static func runtimeDirectory(of socket: String, environment: [String: String], uid: UInt32) -> String? {
    func normal(_ path: Substring) -> String { "/" + path.componentsOfPath.joined(separator: "/") }
    let directory = normal(socket.parentPath[...])
    let created = environment["RUNTIME_DIRECTORY"]?.split(separator: ":").map { normal($0) } ?? []
    let bases = [environment["XDG_RUNTIME_DIR"] ?? "", "/run/user/\(uid)", "/run", "/var/run"]
    let usual = bases.filter { !$0.isEmpty }.map { normal($0[...]) + "/transferd" }
    return created.contains(directory) || usual.contains(directory) ? directory : nil
  }
}
