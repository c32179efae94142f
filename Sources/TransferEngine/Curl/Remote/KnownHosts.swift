// checked file: positions are indices of lines in memory

import Digests
import FoundationEssentials

/// The entries of known-hosts files, with OpenSSH's rules (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT). Pure.
///
/// libcurl's own check is not used: it takes the key type of the first hashed line for that of every host, and OpenSSH
/// on Debian hashes names by default.
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
    /// The host is known with another key, in this line.
    case changed(file: String, line: Int)
    case revoked(file: String, line: Int)
  }

  private(set) var entries: [Entry] = []

  /// Adds a file's lines. Unreadable lines are ignored, as OpenSSH does.
  mutating func add(_ text: String, file: String) {
    // Splits by scalars: the line end CRLF is one `Character`, which is not LF.
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
    // As OpenSSH does: for another port, the key of the host itself is accepted but not demanded.
    if names.count > 1,
      entries.contains(where: { $0.marker == .none && $0.key == key && Self.matches($0.hosts, names[1]) })
    {
      return .known
    }
    // Also refused if only keys of other types are known: an attacker would choose the unknown type.
    if let other = keys.first(where: { $0.key.type == key.type }) ?? keys.first {
      return .changed(file: other.file, line: other.line)
    }
    return .unknown
  }

  /// The key type to request from the server: one that can be compared.
  func preferredKey(host: String, port: Int) -> HostKey? {
    for name in Self.names(host, port) {
      let keys = entries.filter { $0.marker == .none && Self.matches($0.hosts, name) }.map(\.key)
      if let best = HostKey.types.lazy.compactMap({ type in keys.first { $0.type == type } }).first { return best }
    }
    return nil
  }

  /// The names as they are written: the bare name for port 22; otherwise `[name]:port`, then the bare name.
  static func names(_ host: String, _ port: Int) -> [String] {
    port == 22 ? [host] : ["[\(host)]:\(port)", host]
  }

  /// Whether a line's hosts include this one.
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
    return HMAC.isValid(hash, for: name.lowercased().utf8, key: salt, using: .sha1)
  }

  /// Matches `*` and `?`, as in ssh_config(5). It goes back only to the last `*`, so the time grows with the product of
  /// both lengths, for any number of stars.
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
