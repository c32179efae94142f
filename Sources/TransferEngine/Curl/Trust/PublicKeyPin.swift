import Digests
import FoundationEssentials

/// The SHA-256 of a public key in SubjectPublicKeyInfo form: a pin in the sense of HPKP (RFC 7469 §2.4) and of `curl
/// --pinnedpubkey`.
public struct PublicKeyPin: Hashable, Sendable, CustomStringConvertible {
  /// 32 bytes.
  let digest: Data

  init(subjectPublicKeyInfo bytes: Data) { digest = Data(HashFunction.sha256.digest(of: bytes)) }

  /// - Parameter text: Base64, with or without the prefix `sha256//`.
  /// - Throws: `.serverTrust(.invalidCertificate)` unless it encodes 32 bytes.
  public init(sha256 text: String) throws(TransferError) {
    let prefix = "sha256//"
    let base64 = text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text
    guard let bytes = Data(base64Encoded: base64), bytes.count == 32 else {
      throw .serverTrust(.invalidCertificate("a pin is the Base64 of 32 bytes, \"\(text.prefix(60))\" is not"))
    }
    digest = bytes
  }

  /// - Parameter text: a public key, `-----BEGIN PUBLIC KEY-----`.
  /// - Throws: `.serverTrust(.invalidCertificate)` if the text contains none.
  public init(publicKeyPEM text: String) throws(TransferError) {
    guard let block = PEM.blocks(in: text).first(where: { $0.label == "PUBLIC KEY" }), let bytes = block.bytes else {
      throw .serverTrust(.invalidCertificate("the text holds no PEM public key"))
    }
    self.init(subjectPublicKeyInfo: bytes)
  }

  /// `sha256//` and Base64.
  public var description: String { "sha256//\(digest.base64EncodedString())" }
}
