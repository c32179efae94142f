// checked file: positions are indices of lines in memory
import Crypto
import FoundationEssentials

/// What known-hosts files say, read as OpenSSH reads them (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT). Pure.
///
/// libcurl's own check is not used: it takes the key type of the first hashed line for that of every host, and OpenSSH
/// hashes names by default on Debian.
struct KnownHosts: Sendable {
  struct Entry: Sendable {
    enum Marker: Sendable { case none, authority, revoked }
    var marker: Marker
    /// Comma-separated patterns, or one hashed name.
    var hosts: String
    var key: HostKey
    var file: String
    var line: Int
  }

  enum Verdict: Equatable, Sendable {
    case known
    case unknown
    /// The host is known by another key, written there.
    case changed(file: String, line: Int)
    case revoked(file: String, line: Int)
  }

  private(set) var entries: [Entry] = []

  /// Adds a file's lines. Those that cannot be read are passed over, as OpenSSH does.
  mutating func add(_ text: String, file: String) {
    // By scalars: a line end of CRLF is one `Character`, which is not LF.
    let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
    for (number, line) in lines.lazy.map(Substring.init).enumerated() {
      var words = line.split { $0 == " " || $0 == "\t" || $0 == "\r" }
      guard let first = words.first, !first.hasPrefix("#") else { continue }
      var marker = Entry.Marker.none
      if first.hasPrefix("@") {
        switch first {
        case "@revoked": marker = .revoked
        case "@cert-authority": marker = .authority
        default: continue
        }
        words.removeFirst()
      }
      guard words.count >= 3, let blob = Data(base64Encoded: String(words[2])), let key = HostKey([UInt8](blob)),
        key.type == words[1]
      else { continue }
      entries.append(Entry(marker: marker, hosts: String(words[0]), key: key, file: file, line: number + 1))
    }
  }

  func verdict(on key: HostKey, host: String, port: Int) -> Verdict {
    let names = Self.names(host, port)
    let ours = entries.filter { $0.marker != .authority && Self.matches($0.hosts, names[0]) }
    if let revoked = entries.first(where: { entry in
      entry.marker == .revoked && entry.key == key && names.contains { Self.matches(entry.hosts, $0) }
    }) {
      return .revoked(file: revoked.file, line: revoked.line)
    }
    let keys = ours.filter { $0.marker == .none }
    if keys.contains(where: { $0.key == key }) { return .known }
    // As OpenSSH does: on another port, the key that is known for the host itself will do, but none is demanded.
    if names.count > 1,
      entries.contains(where: { $0.marker == .none && $0.key == key && Self.matches($0.hosts, names[1]) })
    {
      return .known
    }
    // Also where only keys of other types are known: whoever sits between would choose the type that is not.
    if let other = keys.first(where: { $0.key.type == key.type }) ?? keys.first {
      return .changed(file: other.file, line: other.line)
    }
    return .unknown
  }

  /// The type of key to ask the server for: one that can be compared.
  func preferredKey(host: String, port: Int) -> HostKey? {
    for name in Self.names(host, port) {
      let keys = entries.filter { $0.marker == .none && Self.matches($0.hosts, name) }.map(\.key)
      if let best = HostKey.types.lazy.compactMap({ type in keys.first { $0.type == type } }).first { return best }
    }
    return nil
  }

  /// As it is written: the bare name for port 22, `[name]:port` otherwise, and then the bare name second.
  static func names(_ host: String, _ port: Int) -> [String] {
    port == 22 ? [host] : ["[\(host)]:\(port)", host]
  }

  /// Whether a line's hosts name this one.
  static func matches(_ hosts: String, _ name: String) -> Bool {
    if hosts.hasPrefix("|1|") { return matchesHash(hosts, name) }
    var isMatched = false
    for pattern in hosts.split(separator: ",") {
      let isNegated = pattern.hasPrefix("!")
      let wanted = Array((isNegated ? pattern.dropFirst() : pattern).lowercased().utf8)
      guard glob(wanted, Array(name.lowercased().utf8)) else { continue }
      if isNegated { return false }
      isMatched = true
    }
    return isMatched
  }

  /// `|1|salt|HMAC-SHA1 of the name`, both in base64.
  private static func matchesHash(_ hosts: String, _ name: String) -> Bool {
    let parts = hosts.split(separator: "|")
    guard parts.count == 3, let salt = Data(base64Encoded: String(parts[1])),
      let hash = Data(base64Encoded: String(parts[2]))
    else { return false }
    return HMAC<Insecure.SHA1>.isValidAuthenticationCode(
      hash, authenticating: Data(name.lowercased().utf8), using: SymmetricKey(data: salt))
  }

  /// `*` and `?`, as in ssh_config(5). Goes back to the last `*` alone, for what an earlier one took can only be more: the
  /// time grows with the product of both lengths, however many stars there are.
  private static func glob(_ pattern: [UInt8], _ text: [UInt8]) -> Bool {
    var (place, position) = (0, 0)
    var star: (place: Int, position: Int)?
    while position < text.count {
      if place < pattern.count, pattern[place] == UInt8(ascii: "*") {
        star = (place, position)
        place += 1
      } else if place < pattern.count, pattern[place] == UInt8(ascii: "?") || pattern[place] == text[position] {
        place += 1
        position += 1
      } else if let last = star {
        star = (last.place, last.position + 1)
        (place, position) = (last.place + 1, last.position + 1)
      } else {
        return false
      }
    }
    return pattern[place...].allSatisfy { $0 == UInt8(ascii: "*") }
  }
}

/// A server's public key, as SSH sends it (RFC 4253 §6.6).
struct HostKey: Sendable, Hashable {
  var blob: [UInt8]
  /// `ssh-ed25519`, …
  var type: String

  /// Types that libssh2 can verify, the one to be preferred first.
  static let types = [
    "ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", "ssh-rsa",
  ]

  /// `nil` unless the blob begins with its type's name.
  init?(_ blob: [UInt8]) {
    guard blob.count > 4 else { return nil }
    let length = blob[..<4].reduce(0) { $0 << 8 | Int($1) }
    guard length > 0, length <= 64, blob.count >= 4 + length,
      let type = String(validating: blob[4..<4 + length], as: UTF8.self)
    else { return nil }
    self.blob = blob
    self.type = type
  }

  /// `SHA256:…` as `ssh-keygen -l` prints it.
  var fingerprint: String {
    let text = Data(SHA256.hash(data: blob)).base64EncodedString()
    return "SHA256:" + text.prefix { $0 != "=" }
  }

  /// A line for a known-hosts file, without its end.
  func line(host: String, port: Int) -> String {
    "\(KnownHosts.names(host, port)[0]) \(type) \(Data(blob).base64EncodedString())"
  }
}
