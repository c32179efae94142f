import Digests
public import FoundationEssentials

/// An X.509 certificate (RFC 5280) in DER. Only its structure is parsed here; the TLS library decides whether it is
/// trusted.
public struct Certificate: Hashable, Sendable {
  /// The certificate in DER.
  public let der: Data
  /// The pin of its public key.
  public let publicKeyPin: PublicKeyPin

  /// - Throws: `.serverTrust(.invalidCertificate)` if the bytes are not a certificate.
  public init(der: Data) throws(TransferError) {
    guard let key = Self.subjectPublicKeyInfo(in: [UInt8](der)) else {
      throw .serverTrust(.invalidCertificate("the bytes are not those of an X.509 certificate"))
    }
    self.der = der
    publicKeyPin = PublicKeyPin(subjectPublicKeyInfo: Data(key))
  }

  /// All certificates of a PEM text, in order; other blocks, such as keys, are skipped.
  /// - Throws: `.serverTrust(.invalidCertificate)` if there is none, or one that cannot be parsed.
  public static func certificates(inPEM text: String) throws(TransferError) -> [Certificate] {
    var certificates: [Certificate] = []
    for block in PEM.blocks(in: text) where block.label == "CERTIFICATE" || block.label == "TRUSTED CERTIFICATE" {
      guard let der = block.bytes else {
        throw .serverTrust(.invalidCertificate("certificate \(certificates.count + 1) is not Base64"))
      }
      certificates.append(try Certificate(der: der))
    }
    guard !certificates.isEmpty else { throw .serverTrust(.invalidCertificate("the text holds no PEM certificate")) }
    return certificates
  }

  /// All certificates of a PEM file.
  /// - Throws: `.file` if it cannot be read; otherwise as `certificates(inPEM:)`.
  public static func certificates(inFile path: String) throws(TransferError) -> [Certificate] {
    try certificates(inPEM: String(decoding: SmallFile.read(path, atMost: 16 << 20), as: UTF8.self))
  }

  /// As PEM (RFC 7468).
  public var pem: String {
    let lines = der.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
    return "-----BEGIN CERTIFICATE-----\n\(lines)\n-----END CERTIFICATE-----\n"
  }

  /// Certificate → tbsCertificate → subjectPublicKeyInfo, with its tag and length (RFC 5280 §4.1).
  private static func subjectPublicKeyInfo(in der: [UInt8]) -> ArraySlice<UInt8>? {
    var outer = DERReader(der[...])
    guard let certificate = outer.next(), certificate.tag == DERReader.sequence, outer.isAtEnd else { return nil }
    var parts = DERReader(certificate.content)
    guard let body = parts.next(), body.tag == DERReader.sequence, parts.next() != nil, parts.next() != nil else {
      return nil
    }
    var fields = DERReader(body.content)
    guard var field = fields.next() else { return nil }
    if field.tag == 0xA0 {  // version, explicitly tagged
      guard let serial = fields.next() else { return nil }
      field = serial
    }
    guard field.tag == 0x02 else { return nil }
    // signature, issuer, validity, subject, then the key
    for _ in 0..<4 { guard fields.next()?.tag == DERReader.sequence else { return nil } }
    guard let key = fields.next(), key.tag == DERReader.sequence else { return nil }
    return key.whole
  }
}

extension Certificate: CustomStringConvertible {
  public var description: String { "Certificate(\(HashFunction.sha256.digest(of: der).hex))" }
}
