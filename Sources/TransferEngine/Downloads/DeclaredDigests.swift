import Digests
import FoundationEssentials
import HTTPTypes

/// Digests of the whole file that a server declares.
enum DeclaredDigests {
  /// `Repr-Digest` (RFC 9530) describes the whole representation in every response; `Content-MD5`, `Digest` and
  /// `x-amz-checksum-*` do so only in a 200. Composite S3 checksums (`…-3`) are not digests of the bytes. Unreadable
  /// values are ignored.
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

  /// The list is stored in the job's row.
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
    // In `Digest`, SHA-1 has the name `sha` (RFC 3230 §4.1.1).
    guard let algorithm = name == "sha" ? DigestAlgorithm.sha1 : DigestAlgorithm(rawValue: name),
      digests.count < maximumCount, let bytes = Data(base64Encoded: base64), bytes.count == algorithm.size
    else { return }
    digests.append(ExpectedDigest(algorithm: algorithm, hex: bytes.hex))
  }
}
