import Glibc
import TransferEngine

/// SSH keys and known hosts in the service's former home directory, from releases before HOME was a separate directory. The
/// daemon still uses them, but adds new hosts in the current home. It reads nothing else in the former home, because other
/// users may have had write access there.
struct FormerHome: Equatable, Sendable {
  /// The directories that may contain these files.
  let directories: [String]
  let home: String

  /// - Parameters:
  ///   - home: the current home directory, from HOME.
  ///   - state: the state directory, which the former unit file set as the service's home.
  ///   - userHome: the home directory in the user database.
  init(home: String, state: String, userHome: String?, environment: [String: String]) {
    self.home = home
    // STATE_DIRECTORY lists the directories that systemd created for the unit. If HOME is not one of
    // them, the user chose it, and the home in the user database is not read.
    let isFromUnit = environment["STATE_DIRECTORY"]?.split(separator: ":").contains { $0 == home } ?? false
    var directories = [state]
    if isFromUnit, let userHome, userHome != state { directories.append(userHome) }
    self.directories = directories.filter { $0 != home }
  }

  /// Adds the former files that exist and that neither the configuration nor the current home replaces.
  /// - Parameter isReadable: whether a file exists and can be read.
  /// - Returns: the files that were added.
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
