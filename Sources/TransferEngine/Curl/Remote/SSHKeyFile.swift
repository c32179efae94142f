import Glibc

/// Chooses the private key file of a transfer.
package enum SSHKeyFile {
  /// The usual key files below `~/.ssh`; the first one that can be read is used.
  package static let names = ["id_ed25519", "id_ecdsa", "id_rsa"]

  /// `nil`: none is configured, and none of the usual ones exists.
  /// - Throws: `.loginDenied` if the configured one cannot be read: no other method was configured.
  static func path(_ configuration: SSHConfiguration, host: String) throws(TransferError) -> String? {
    guard let path = configuration.privateKeyFile else {
      return names.lazy.map { LocalUser.home + "/.ssh/" + $0 }
        .first { access($0, R_OK) == 0 }
    }
    let full = path.hasPrefix("~/") ? LocalUser.home + path.dropFirst() : path
    guard access(full, R_OK) == 0 else {
      let reason = String(cString: strerror(errno))
      throw .remote(.loginDenied(host: host, reply: "the key file \(path) cannot be read: \(reason)"))
    }
    return full
  }
}
