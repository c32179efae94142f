import Crypto
import FoundationEssentials
import HTTPTypes

/// Several digests over one stream of bytes.
struct Digester {
  private var sha256: SHA256?
  private var sha512: SHA512?
  private var sha1: Insecure.SHA1?
  private var md5: Insecure.MD5?

  init(_ algorithms: Set<DigestAlgorithm>) {
    if algorithms.contains(.sha256) { sha256 = SHA256() }
    if algorithms.contains(.sha512) { sha512 = SHA512() }
    if algorithms.contains(.sha1) { sha1 = Insecure.SHA1() }
    if algorithms.contains(.md5) { md5 = Insecure.MD5() }
  }

  mutating func update(_ bytes: UnsafeRawBufferPointer) {
    sha256?.update(bufferPointer: bytes)
    sha512?.update(bufferPointer: bytes)
    sha1?.update(bufferPointer: bytes)
    md5?.update(bufferPointer: bytes)
  }

  /// Lower-case hexadecimal, for the algorithms that were asked for.
  func finalize() -> [DigestAlgorithm: String] {
    var results: [DigestAlgorithm: String] = [:]
    results[.sha256] = sha256?.finalize().hex
    results[.sha512] = sha512?.finalize().hex
    results[.sha1] = sha1?.finalize().hex
    results[.md5] = md5?.finalize().hex
    return results
  }
}

extension Sequence<UInt8> {
  var hex: String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }
}

/// Digests that a server declares of the whole file.
enum DeclaredDigests {
  /// `Repr-Digest` (RFC 9530) is about the whole representation in every answer; `Content-MD5`, `Digest` and
  /// `x-amz-checksum-*` only in a 200. Composite S3 checksums (`…-3`) are no digests of the bytes. Unreadable
  /// values are passed over: they promise nothing.
  static func of(_ head: ResponseHead) -> [ExpectedDigest] {
    guard head.contentCoding == nil else { return [] }
    var digests: [ExpectedDigest] = []
    for item in values("Repr-Digest", in: head) {
      guard let (name, value) = pair(item), value.hasPrefix(":"), value.hasSuffix(":"), value.count > 2 else {
        continue
      }
      add(name, base64: String(value.dropFirst().dropLast()), to: &digests)
    }
    guard head.status == 200 else { return digests }
    for item in values("Digest", in: head) {
      if let (name, value) = pair(item) { add(name, base64: value, to: &digests) }
    }
    for value in values("Content-MD5", in: head) { add("md5", base64: value, to: &digests) }
    for value in values("x-amz-checksum-sha256", in: head) { add("sha-256", base64: value, to: &digests) }
    for value in values("x-amz-checksum-sha1", in: head) { add("sha", base64: value, to: &digests) }
    return digests
  }

  /// They are kept in the job's row.
  private static let maximumCount = 16

  private static func values(_ name: String, in head: ResponseHead) -> [String] {
    guard let name = HTTPField.Name(name) else { return [] }
    return head.headers[values: name].flatMap { $0.split(separator: ",") }
      .map { item in String(item.drop { $0 == " " }) }
  }

  private static func pair(_ item: String) -> (String, String)? {
    guard let equals = item.firstIndex(of: "=") else { return nil }
    return (item[..<equals].lowercased(), String(item[item.index(after: equals)...]))
  }

  private static func add(_ name: String, base64: String, to digests: inout [ExpectedDigest]) {
    let (algorithm, size): (DigestAlgorithm, Int)
    switch name {
    case "sha-256": (algorithm, size) = (.sha256, 32)
    case "sha-512": (algorithm, size) = (.sha512, 64)
    case "sha", "sha-1": (algorithm, size) = (.sha1, 20)
    case "md5": (algorithm, size) = (.md5, 16)
    default: return
    }
    guard digests.count < maximumCount, let bytes = Data(base64Encoded: base64), bytes.count == size else { return }
    digests.append(ExpectedDigest(algorithm: algorithm, hex: bytes.hex))
  }
}
