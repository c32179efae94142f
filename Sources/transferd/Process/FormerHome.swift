import Glibc
import TransferEngine

/// SSH keys and known hosts in the home directory that the service had before HOME became a directory of its own. They are kept
/// in use; new hosts are written to the present home. Nothing else in the former home is read: other users may have been able
/// to write there.
struct FormerHome: Equatable, Sendable {
  /// The directories where they may be.
  let directories: [String]
  let home: String

  /// - Parameters:
  ///   - home: the present one, as HOME says.
  ///   - state: the state directory, which was the service's home by its unit.
  ///   - userHome: what the user database says.
  init(home: String, state: String, userHome: String?, environment: [String: String]) {
    self.home = home
    // systemd names the directories it made for the unit. A user who sets HOME elsewhere means that one alone.
    let isFromUnit = environment["STATE_DIRECTORY"]?.split(separator: ":").contains { $0 == home } ?? false
    var directories = [state]
    if isFromUnit, let userHome, userHome != state { directories.append(userHome) }
    self.directories = directories.filter { $0 != home }
  }

  /// Adds what is there and nothing replaces.
  /// - Parameter isReadable: asks the file system.
  /// - Returns: the files that are used.
  func adopt(
    into ssh: inout SSHConfiguration, isReadable: (String) -> Bool = { access($0, R_OK) == 0 }
  ) -> [String] {
    var used: [String] = []
    if ssh.knownHostsFiles == nil {
      let known = directories.map { $0 + "/.ssh/known_hosts" }.filter(isReadable)
      if !known.isEmpty {
        ssh.knownHostsFiles = [home + "/.ssh/known_hosts"] + known + ["/etc/ssh/ssh_known_hosts"]
      }
      used += known
    }
    func keys(in directory: String) -> [String] { SSHKeyFile.names.map { directory + "/.ssh/" + $0 } }
    if ssh.privateKeyFile == nil, !keys(in: home).contains(where: isReadable),
      let key = directories.flatMap(keys).first(where: isReadable)
    {
      ssh.privateKeyFile = key
      used.append(key)
    }
    return used
  }
}
