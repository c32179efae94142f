import Foundation
import Glibc
import TestSupport
import Testing

@testable import TransferEngine

@Suite struct NetrcTests {
  private static func pair(_ credentials: Credentials?) -> String? {
    credentials.map { "\($0.username):\($0.password)" }
  }

  @Test(
    "the credentials of host h are parsed from a netrc file",
    arguments: [
      ("machine h login u password p", "u:p"), ("machine h\n  login u\n\tpassword p\n", "u:p"),
      ("machine h password p login u", "u:p"), ("machine H login u password p", "u:p"),
      ("machine other login x password y machine h login u password p", "u:p"),
      ("machine h login u password p\nmachine h login second password q", "u:p"),
      ("default login d password e", "d:e"), ("machine other login x password y\ndefault login d password e", "d:e"),
      ("default login d password e\nmachine h login u password p", "u:p"),
      ("machine h login u account a password p", "u:p"), ("machine h login u", "u:"), ("machine h password p", nil),
      ("machine h", nil), ("machine", nil), ("", nil), ("login u password p", nil), ("machine other login u", nil),
      ("machine h\ndefault login d password e", nil),
      ("machine h login \"a user\" password \"p \\\" \\\\ \\t#\"", "a user:p \" \\ \t#"),
      ("# machine h login no password no\nmachine h login u password #p", "u:#p"),
      ("macdef init\ncd /x\nmachine h login no password no\n\nmachine h login u password p", "u:p"),
      ("machine h login u password p macdef init\nput x\n\n", "u:p"), ("macdef never ends\nmachine h login u", nil),
      ("machine h login u password \"open", "u:open"), ("machine h\r\nlogin u\r\npassword p\r\n", "u:p"),
      ("machine h login ü password 密", "ü:密"), ("machine h unknown word login u password p", "u:p"),
    ] as [(String, String?)])
  func parsing(_ text: String, _ expected: String?) {
    #expect(Self.pair(NetrcFile(parsing: text).credentials(forHost: "h")) == expected)
  }

  @Test("a named user gets that user's password")
  func named() {
    let file = NetrcFile(
      parsing: "machine h login a password 1\nmachine h login b password 2\ndefault login c password 3")
    #expect(Self.pair(file.credentials(forHost: "h", login: "b")) == "b:2")
    #expect(Self.pair(file.credentials(forHost: "h", login: "c")) == "c:3")
    #expect(file.credentials(forHost: "h", login: "d") == nil)
    #expect(Self.pair(file.credentials(forHost: "other")) == "c:3")
    #expect(!"\(file.entries)".contains("1 "))
  }

  @Test("random netrc files do not crash or hang the parser")
  func anything() {
    var generator = SystemRandomNumberGenerator()
    let words = [
      "machine", "default", "login", "password", "macdef", "\n", "\n\n", "\"", "\\", "#", "h", " ", "\t", "\0",
    ]
    for _ in 0..<2000 {
      let text = (0..<20).map { _ in words.randomElement(using: &generator)! }.joined(separator: " ")
      _ = NetrcFile(parsing: text).credentials(forHost: "h")
    }
  }

  @Test("a netrc file that others can read causes a warning only if it contains passwords")
  func permissions() throws {
    let directory = try TemporaryDirectory()
    let path = try directory.file("netrc", text: "machine h login u password p")
    chmod(path, 0o600)
    #expect(try NetrcFile(path: path).permissionWarning == nil)
    chmod(path, 0o640)
    #expect(try NetrcFile(path: path).permissionWarning?.contains("chmod 600") == true)
    let harmless = try directory.file("other", text: "machine h login u")
    chmod(harmless, 0o644)
    #expect(try NetrcFile(path: harmless).permissionWarning == nil)
  }

  @Test("no file, a directory and a huge file are errors", arguments: ["none", "", "huge"])
  func unreadable(_ name: String) throws {
    let directory = try TemporaryDirectory()
    try directory.file("huge", Data(count: 2 << 20))
    #expect(throws: TransferError.self) { try NetrcFile(path: directory.path(name)) }
  }
}
