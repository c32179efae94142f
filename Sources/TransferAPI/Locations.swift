import WireValues

/// The paths of the socket and of the state directory, from the environment. Both programs use the same rule.
public struct Locations: Equatable, Sendable {
  /// The path of the user's daemon's socket, or the path that the user named.
  public var socket: String
  public var stateDirectory: String
  /// Whether the user named the socket. Then no other socket is used, and no daemon is started.
  public var isSocketExplicit: Bool

  public static let systemSocket = "/run/transferd/transferd.sock"

  /// - Parameters:
  ///   - socket: the value of `--socket`.
  ///   - stateDirectory: the value of `--state-dir`.
  ///   - home: the user's home where `HOME` is unset (cron), from the password database.
  ///   - directoryExists: asks the file system.
  /// - Throws: `WireError` where neither `HOME` nor a home is known.
  public init(
    socket: String?, stateDirectory: String?, environment: [String: String], uid: UInt32, home: String?,
    directoryExists: (String) -> Bool
  ) throws(WireError) {
    func set(_ name: String) -> String? {
      environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }
    // "If an implementation encounters a relative path … it should consider the path invalid and ignore it."
    // (XDG Base Directory Specification)
    func absolute(_ name: String) -> String? { set(name).flatMap { $0.isAbsolutePath ? $0 : nil } }
    if let state = stateDirectory ?? set("TRANSFERD_STATE_DIR") {
      self.stateDirectory = state
    } else if let state = absolute("XDG_STATE_HOME") {
      self.stateDirectory = state + "/transferd"
    } else if let home = set("HOME") ?? home {
      self.stateDirectory = home + "/.local/state/transferd"
    } else {
      throw WireError("cannot find the state directory: set HOME, or name the directory with --state-dir")
    }
    isSocketExplicit = true
    if let socket = socket ?? set("TRANSFERD_SOCKET") {
      self.socket = socket
      return
    }
    isSocketExplicit = false
    if let runtime = absolute("XDG_RUNTIME_DIR") {
      self.socket = runtime + "/transferd/transferd.sock"
    } else if directoryExists("/run/user/\(uid)") {
      self.socket = "/run/user/\(uid)/transferd/transferd.sock"
    } else {
      self.socket = self.stateDirectory + "/transferd.sock"
    }
  }
}
