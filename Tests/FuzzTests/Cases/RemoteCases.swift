import FoundationEssentials
import WireValues

@testable import TransferEngine

extension FuzzCase {
  static let remote = [knownHosts, netrc, profiles, noProxy, hostAddress, cookies, netlink]

  /// A known-hosts file and the lookup of a host that is in some corpus files.
  private static let knownHosts = FuzzCase("known-hosts", maximumLength: 2048) { bytes in
    let text = Input(bytes).text
    var hosts = KnownHosts()
    hosts.add(text, file: "f")
    var withCarriageReturns = KnownHosts()
    withCarriageReturns.add(withCRLF(text), file: "f")
    try require(hosts.entries.map(\.key) == withCarriageReturns.entries.map(\.key), "CRLF hides entries")
    let keys = hosts.entries.map(\.key)
    for (host, port) in [("host.example", 22), ("host.example", 2222), ("[::1]", 22)] {
      if let preferred = hosts.preferredKey(host: host, port: port) {
        try require(keys.contains(preferred), "a key that the file does not hold")
      }
      guard let other = HostKey([0, 0, 0, 11] + Array("ssh-ed25519".utf8) + [9, 9]) else { continue }
      if hosts.verdict(on: other, host: host, port: port) == .known {
        try require(keys.contains(other), "an unknown key counts as a known one")
      }
      for key in keys.prefix(3) {
        _ = hosts.verdict(on: key, host: host, port: port)
        try require(HostKey(key.blob) == key && !key.fingerprint.isEmpty, "a key that cannot be read again")
      }
    }
  }

  private static func withCRLF(_ text: String) -> String {
    let lines = text.utf8.split(separator: 10, omittingEmptySubsequences: false)
    return String(decoding: Array(lines.joined(separator: [13, 10])), as: UTF8.self)
  }

  private static let netrc = FuzzCase("netrc", maximumLength: 2048) { bytes in
    let file = NetrcFile(parsing: Input(bytes).text)
    for host in ["host.example", "HOST.example", ""] {
      guard let found = file.credentials(forHost: host) else { continue }
      try require(
        file.entries.contains {
          $0.login == found.username && ($0.machine == nil || $0.machine == host.lowercased())
        }, "credentials of another host")
    }
    for entry in file.entries {
      guard let password = entry.password, password.utf8.count > 20 else { continue }
      // A password may happen to be a part of what is shown beside it.
      let isBeside = [entry.machine, entry.login].contains { $0?.firstRange(ofASCII: password) != nil }
      try require(isBeside || "\(entry)".firstRange(ofASCII: password) == nil, "a password is shown")
    }
  }

  private static let profiles = FuzzCase("aws-profiles", maximumLength: 2048) { bytes in
    let text = Input(bytes).text
    let both = AWSProfiles(credentials: text, config: text)
    try require(both == AWSProfiles(credentials: text, config: text), "the same file, read twice, differs")
    for value in (both["default"] ?? [:]).values {
      try require(!value.utf8.contains { $0 == 10 || $0 == 13 }, "a value of two lines")
    }
  }

  /// Line 1: a host. The rest is a list of hosts that bypass the proxy.
  private static let noProxy = FuzzCase("no-proxy", maximumLength: 1024) { bytes in
    var input = Input(bytes)
    let host = input.line()
    let list = NoProxyList(parsing: input.text)
    _ = list.contains(host: host, port: 443)
    try require(!NoProxyList(parsing: "").contains(host: host, port: 443), "an empty list matches")
    try require(NoProxyList(parsing: "*").contains(host: host, port: 443), "* does not match")
  }

  /// What was read is written in the same way, and read again.
  private static let hostAddress = FuzzCase("host-address", maximumLength: 300) { bytes in
    guard let entry = try? HostAddress(Input(bytes).text) else { return }
    let again = try? HostAddress(entry.description)
    try require(again == entry, "\(entry) is read as \(again.map(String.init(describing:)) ?? "nothing")")
  }

  /// Line 1: a URL. The rest is a cookie file.
  private static let cookies = FuzzCase("cookies", maximumLength: 2048) { bytes in
    var input = Input(bytes)
    let url = try? RequestURL(input.line())
    guard let cookies = try? Cookie.cookies(inNetscape: input.text), let url else { return }
    guard let field = Cookie.field(cookies, for: url, now: Date(timeIntervalSince1970: 1)) else { return }
    try require(field.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }, "a control character in the field Cookie")
    try require(field.utf8.count <= Cookie.maximumFieldBytes, "a field of \(field.utf8.count) bytes")
    try require(field.split(separator: ";").count <= Cookie.maximumCount, "too many cookies")
  }

  private static let netlink = FuzzCase("netlink", maximumLength: 1024) { bytes in
    let messages = bytes.withUnsafeBytes { NetlinkMessage.all(in: $0) }
    try require(messages.count <= bytes.count / 16, "\(messages.count) messages in \(bytes.count) bytes")
  }
}
