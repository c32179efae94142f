// checked file: positions are indices of the file in memory

import TransferAPI
import WireValues

/// A file of digests, as sha256sum and its kin write it: `SHA256SUMS`, `SHA1SUMS`, `SHA512SUMS`, `MD5SUMS`. Pure.
///
/// Reads the form of GNU (`HEX  name`, `HEX *name`, and with a backslash in front if the name is escaped) and that of BSD
/// (`SHA256 (name) = HEX`), also inside a signed message, whose signature is not checked.
struct ChecksumList: Equatable, Sendable {
  /// The largest file that is read.
  static let maximumBytes = 16 << 20

  /// How the list is called in messages.
  let source: String
  private var checksums: [String: Checksum] = [:]
  /// The most components of a name.
  private var depth = 1

  /// - Throws: `WireError` that names the line.
  init(_ bytes: [UInt8], source: String) throws(WireError) {
    self.source = source
    var isSignedHead = false
    var number = 0
    for line in bytes.split(separator: 10, omittingEmptySubsequences: false) {
      number += 1
      var line = line.last == 13 ? line.dropLast() : line
      if number == 1, line.starts(with: [0xEF, 0xBB, 0xBF]) { line = line.dropFirst(3) }
      if line.starts(with: "-----BEGIN PGP SIGNATURE".utf8) { break }
      if line.starts(with: "-----BEGIN PGP SIGNED".utf8) { isSignedHead = true }
      if isSignedHead {
        // The message begins after a blank line (RFC 9580 §7.2).
        if line.isEmpty { isSignedHead = false }
        continue
      }
      guard let first = line.first, first != UInt8(ascii: "#") else { continue }
      guard let text = String(validating: line, as: UTF8.self) else {
        throw WireError("\(source), line \(number): is not valid UTF-8")
      }
      do throws(WireError) {
        if let (name, checksum) = try Self.entry(text) { try add(name, checksum) }
      } catch {
        throw WireError("\(source), line \(number): \(error)")
      }
    }
    guard !checksums.isEmpty else { throw WireError("\(source) contains no checksum") }
  }

  var count: Int { checksums.count }

  /// The checksum of the file that a URL names. The list may have its name, or the end of its path.
  subscript(url url: String) -> Checksum? {
    let segments = URLNames(url).segments
    for length in (1...max(1, min(depth, segments.count))).reversed() {
      if let found = checksums[segments.suffix(length).joined(separator: "/")] { return found }
    }
    return nil
  }

  /// Keeps the strongest checksum of a name.
  private mutating func add(_ name: String, _ checksum: Checksum) throws(WireError) {
    var name = name[...]
    while name.utf8.starts(with: "./".utf8) { name = name[name.utf8.index(name.startIndex, offsetBy: 2)...] }
    let key = String(name)
    guard !key.isEmpty else { throw WireError("the name is empty") }
    if let known = checksums[key], known != checksum {
      guard known.algorithm != checksum.algorithm else {
        throw WireError("\"\(key.printable)\" has two different \(checksum.algorithm.rawValue) checksums")
      }
      guard known.algorithm.byteCount < checksum.algorithm.byteCount else { return }
    }
    checksums[key] = checksum
    depth = max(depth, name.componentsOfPath.count)
  }

  /// - Returns: `nil` for a line with a digest of an algorithm that is not supported.
  private static func entry(_ text: String) throws(WireError) -> (String, Checksum)? {
    let isEscaped = text.utf8.first == UInt8(ascii: "\\")
    let line = isEscaped ? text.suffix(after: text.startIndex) : text[...]
    guard let (name, digest) = tagged(line) ?? untagged(line) else {
      throw WireError("is no checksum: write \"HEX  name\" or \"SHA256 (name) = HEX\"")
    }
    guard let digest else { return nil }
    let checksum = try Checksum(parsing: digest)
    return (isEscaped ? try unescaped(name) : String(name), checksum)
  }

  private typealias Entry = (name: Substring, digest: String?)

  /// `SHA256 (name) = HEX`; a name may contain parentheses.
  private static func tagged(_ line: Substring) -> Entry? {
    guard let open = line.firstIndex(ofASCII: "("), let close = line.lastIndex(ofASCII: ")"), open < close else {
      return nil
    }
    let rest = line.suffix(after: close).trimmingBlanks()
    let tag = line[..<open].trimmingBlanks()
    guard rest.utf8.first == UInt8(ascii: "="), !tag.isEmpty,
      tag.utf8.allSatisfy({ $0.isASCIILetter || $0.isASCIIDigit || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "/") })
    else { return nil }
    let name = line[line.utf8.index(after: open)..<close]
    let hex = rest.suffix(after: rest.startIndex).trimmingBlanks()
    switch tag.lowercased() {
    case "sha256", "sha2-256", "sha-256": return (name, "sha-256=\(hex)")
    case "sha512", "sha2-512", "sha-512": return (name, "sha-512=\(hex)")
    case "sha1", "sha-1": return (name, "sha-1=\(hex)")
    case "md5": return (name, "md5=\(hex)")
    default: return (name, nil)
    }
  }

  /// `HEX  name` or `HEX *name`. The algorithm follows from the length of the digest.
  private static func untagged(_ line: Substring) -> Entry? {
    guard let end = line.firstIndex(ofASCII: " ") else { return nil }
    let hex = line[..<end]
    var name = line.suffix(after: end)
    guard let mark = name.utf8.first, mark == UInt8(ascii: " ") || mark == UInt8(ascii: "*"),
      hex.utf8.allSatisfy({ $0.hexDigitValue != nil })
    else { return nil }
    name = name[name.utf8.index(after: name.startIndex)...]
    switch hex.utf8.count {
    case 32: return (name, "md5=\(hex)")
    case 40: return (name, "sha-1=\(hex)")
    case 64: return (name, "sha-256=\(hex)")
    case 128: return (name, "sha-512=\(hex)")
    // sha224sum and sha384sum
    case 56, 96: return (name, nil)
    default: return nil
    }
  }

  /// `\n`, `\r` and `\\` as sha256sum writes them.
  private static func unescaped(_ name: Substring) throws(WireError) -> String {
    var bytes: [UInt8] = []
    var rest = name.utf8[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "\\") else {
        bytes.append(byte)
        continue
      }
      switch rest.popFirst() {
      case UInt8(ascii: "n"): bytes.append(10)
      case UInt8(ascii: "r"): bytes.append(13)
      case UInt8(ascii: "\\"): bytes.append(UInt8(ascii: "\\"))
      default: throw WireError("the name has an unknown escape")
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
