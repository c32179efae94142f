import Foundation
import TestSupport
import Testing

@testable import TransferEngine

@Suite struct KnownHostsTests {
  static func key(_ type: String, _ seed: UInt8) -> HostKey {
    func string(_ bytes: [UInt8]) -> [UInt8] { [0, 0, 0, UInt8(bytes.count)] + bytes }
    return HostKey(string(Array(type.utf8)) + string(Array(repeating: seed, count: 32)))!
  }

  static let first = key("ssh-ed25519", 1)
  static let second = key("ssh-ed25519", 2)
  static let ecdsa = key("ecdsa-sha2-nistp256", 3)

  static func base64(_ key: HostKey) -> String { Data(key.blob).base64EncodedString() }

  static func known(_ lines: String...) -> KnownHosts {
    var known = KnownHosts()
    known.add(lines.joined(separator: "\n") + "\n", file: "kh")
    return known
  }

  static func line(_ hosts: String, _ key: HostKey) -> String { "\(hosts) \(key.type) \(base64(key)) comment" }

  @Test(
    "a host's line is found by name, pattern and port",
    arguments: [
      ("host.test", "host.test", 22, true), ("HOST.test", "host.test", 22, true),
      ("other.test", "host.test", 22, false),
      ("a,host.test,b", "host.test", 22, true), ("*.test", "host.test", 22, true), ("h?st.test", "host.test", 22, true),
      ("*.test,!host.test", "host.test", 22, false), ("!host.test,*.test", "other.test", 22, true),
      ("[host.test]:2222", "host.test", 2222, true), ("[host.test]:2222", "host.test", 2223, false),
      ("[host.test]:2222", "host.test", 22, false), ("host.test", "host.test", 2222, true),
      ("[::1]:2222", "::1", 2222, true), ("127.0.0.1", "127.0.0.1", 22, true),
    ])
  func hosts(_ pattern: String, _ host: String, _ port: Int, _ isKnown: Bool) {
    let known = Self.known(Self.line(pattern, Self.first))
    #expect(known.verdict(on: Self.first, host: host, port: port) == (isKnown ? .known : .unknown))
    #expect((known.preferredKey(host: host, port: port) == Self.first) == isKnown)
  }

  @Test("a hashed name matches its own host and no other")
  func hashed() async throws {
    let directory = try TemporaryDirectory()
    let file = try directory.file(
      "kh", text: Self.line("[host.test]:2222", Self.first) + "\n" + Self.line("b.test", Self.second) + "\n")
    try await Launch(BuiltPrograms.system("ssh-keygen"), ["-H", "-f", file]).runSuccessfully()
    let text = try String(contentsOfFile: file, encoding: .utf8)
    #expect(text.hasPrefix("|1|") && !text.contains("host.test"))
    var known = KnownHosts()
    known.add(text, file: file)
    #expect(known.verdict(on: Self.first, host: "host.test", port: 2222) == .known)
    #expect(known.verdict(on: Self.second, host: "b.test", port: 22) == .known)
    #expect(known.verdict(on: Self.first, host: "c.test", port: 22) == .unknown)
    #expect(known.verdict(on: Self.first, host: "b.test", port: 22) == .changed(file: file, line: 2))
  }

  @Test("a key that differs from the known key counts as changed, also if its type differs")
  func changed() {
    let known = Self.known("# comment", "", Self.line("h.test", Self.first))
    #expect(known.verdict(on: Self.second, host: "h.test", port: 22) == .changed(file: "kh", line: 3))
    #expect(known.verdict(on: Self.ecdsa, host: "h.test", port: 22) == .changed(file: "kh", line: 3))
  }

  @Test("each of several known keys is accepted, but a revoked key is not")
  func several() {
    let known = Self.known(
      Self.line("h.test", Self.first), Self.line("h.test", Self.ecdsa), "@revoked " + Self.line("*", Self.second),
      Self.line("h.test", Self.second))
    #expect(known.verdict(on: Self.ecdsa, host: "h.test", port: 22) == .known)
    #expect(known.verdict(on: Self.second, host: "h.test", port: 22) == .revoked(file: "kh", line: 3))
    #expect(known.preferredKey(host: "h.test", port: 22) == Self.first)
  }

  @Test("lines for certificate authorities and unreadable lines are ignored")
  func others() {
    let known = Self.known(
      "@cert-authority " + Self.line("*", Self.first), "h.test ssh-ed25519 ???", "h.test", "@unknown x y z",
      "h.test ssh-rsa " + Self.base64(Self.first))
    #expect(known.entries.count == 1)
    #expect(known.verdict(on: Self.first, host: "h.test", port: 22) == .unknown)
    #expect(known.preferredKey(host: "h.test", port: 22) == nil)
  }

  @Test("a changed key is detected if lines end with CRLF")
  func carriageReturns() throws {
    var known = KnownHosts()
    known.add("# hosts\r\n\(Self.line("h.test", Self.first))\r\n\(Self.line("i.test", Self.first))\r\n", file: "f")
    #expect(known.entries.map(\.line) == [2, 3])
    #expect(known.verdict(on: Self.second, host: "h.test", port: 22) == .changed(file: "f", line: 2))
  }

  @Test("a pattern with many stars is matched in less than 2 seconds")
  func stars() {
    let name = String(repeating: "a", count: 200)
    let time = ThreadTime.measure {
      #expect(!KnownHosts.matches(String(repeating: "*a", count: 100) + "*b", name))
      #expect(KnownHosts.matches(String(repeating: "*a", count: 100) + "*", name))
    }
    #expect(time < .seconds(2))
    #expect(KnownHosts.matches("a*b?d", "axxbcd") && !KnownHosts.matches("a*b?d", "axxbd"))
    #expect(KnownHosts.matches("*", "") && KnownHosts.matches("**", "x") && !KnownHosts.matches("?", ""))
  }

  @Test("a fingerprint is what ssh-keygen prints")
  func fingerprint() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.path("k")
    try await Launch(BuiltPrograms.system("ssh-keygen"), ["-q", "-t", "ed25519", "-N", "", "-f", path])
      .runSuccessfully()
    let printed = try await Launch(BuiltPrograms.system("ssh-keygen"), ["-l", "-f", path]).runSuccessfully().stdout
    let blob = try String(contentsOfFile: path + ".pub", encoding: .utf8).split(separator: " ")[1]
    let key = try #require(HostKey([UInt8](Data(base64Encoded: String(blob))!)))
    #expect(printed.contains(" \(key.fingerprint) "))
    #expect(key.type == "ssh-ed25519")
  }

  @Test(
    "bytes that are not a key are refused",
    arguments: [[], [0, 0, 0, 9], [0, 0, 0, 0, 1], [255, 255, 255, 255, 1]] as [[UInt8]])
  func noKey(_ blob: [UInt8]) { #expect(HostKey(blob) == nil) }
}
