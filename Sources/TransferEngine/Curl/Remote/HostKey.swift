// checked file: positions are indices of lines in memory

import Digests
import FoundationEssentials

/// A server's public key in SSH's encoding (RFC 4253 §6.6).
struct HostKey: Sendable, Hashable {
  var blob: [UInt8]
  /// `ssh-ed25519`, …
  var type: String

  /// The key types that libssh2 can verify, in order of preference.
  static let types = [
    "ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", "ssh-rsa",
  ]

  /// `nil` unless the blob begins with the name of its type.
  init?(_ blob: [UInt8]) {
    guard blob.count > 4 else { return nil }
    let length = blob[..<4].reduce(0) { $0 << 8 | Int($1) }
    guard length > 0, length <= 64, blob.count >= 4 + length,
      let type = String(validating: blob[4..<4 + length], as: UTF8.self)
    else { return nil }
    self.blob = blob
    self.type = type
  }

  /// `SHA256:…`, as `ssh-keygen -l` prints it.
  var fingerprint: String {
    let text = Data(HashFunction.sha256.digest(of: blob)).base64EncodedString()
    return "SHA256:" + text.prefix { $0 != "=" }
  }

  /// A line for a known-hosts file, without the line end.
  func line(host: String, port: Int) -> String {
    "\(KnownHosts.names(host, port)[0]) \(type) \(Data(blob).base64EncodedString())"
  }
}
