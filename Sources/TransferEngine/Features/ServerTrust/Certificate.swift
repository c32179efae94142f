import Crypto
public import FoundationEssentials

/// An X.509 certificate (RFC 5280), by its DER bytes. Only its shape is read here; whether it is to be believed is for
/// the TLS library to say.
public struct Certificate: Hashable, Sendable {
  /// The certificate's bytes (X.509, DER).
  public let der: Data
  /// The pin of its public key.
  public let publicKeyPin: PublicKeyPin

  /// - Throws: `.serverTrust(.invalidCertificate)` where the bytes are not a certificate's.
  public init(der: Data) throws(TransferError) {
    guard let key = Self.subjectPublicKeyInfo(in: [UInt8](der)) else {
      throw .serverTrust(.invalidCertificate("the bytes are not those of an X.509 certificate"))
    }
    self.der = der
    publicKeyPin = PublicKeyPin(subjectPublicKeyInfo: Data(key))
  }

  /// All certificates of a PEM text, in their order; other blocks, such as keys, are passed over.
  /// - Throws: `.serverTrust(.invalidCertificate)` where there is none, or one that cannot be read.
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
  /// - Throws: `.file` where it cannot be read, else as `certificates(inPEM:)`.
  public static func certificates(inFile path: String) throws(TransferError) -> [Certificate] {
    try certificates(inPEM: String(decoding: SmallFile.read(path, atMost: 16 << 20), as: UTF8.self))
  }

  /// As PEM (RFC 7468).
  public var pem: String {
    let lines = der.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
    return "-----BEGIN CERTIFICATE-----\n\(lines)\n-----END CERTIFICATE-----\n"
  }

  /// Certificate → tbsCertificate → subjectPublicKeyInfo, its tag and length included (RFC 5280 §4.1).
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
  public var description: String { "Certificate(\(SHA256.hash(data: der).hex))" }
}

/// The SHA-256 of a public key in its SubjectPublicKeyInfo form: what HPKP called a pin (RFC 7469 §2.4), and what
/// `curl --pinnedpubkey` takes.
public struct PublicKeyPin: Hashable, Sendable, CustomStringConvertible {
  /// 32 bytes.
  let digest: Data

  init(subjectPublicKeyInfo bytes: Data) { digest = Data(SHA256.hash(data: bytes)) }

  /// - Parameter text: Base64, with or without `sha256//` before it.
  /// - Throws: `.serverTrust(.invalidCertificate)` unless it stands for 32 bytes.
  public init(sha256 text: String) throws(TransferError) {
    let prefix = "sha256//"
    let base64 = text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text
    guard let bytes = Data(base64Encoded: base64), bytes.count == 32 else {
      throw .serverTrust(.invalidCertificate("a pin is the Base64 of 32 bytes, \"\(text.prefix(60))\" is not"))
    }
    digest = bytes
  }

  /// - Parameter text: a public key, `-----BEGIN PUBLIC KEY-----`.
  /// - Throws: `.serverTrust(.invalidCertificate)` where the text holds none.
  public init(publicKeyPEM text: String) throws(TransferError) {
    guard let block = PEM.blocks(in: text).first(where: { $0.label == "PUBLIC KEY" }), let bytes = block.bytes else {
      throw .serverTrust(.invalidCertificate("the text holds no PEM public key"))
    }
    self.init(subjectPublicKeyInfo: bytes)
  }

  /// `sha256//` and Base64.
  public var description: String { "sha256//\(digest.base64EncodedString())" }
}

/// Reads DER elements one after the other (X.690 §8.1); knows nothing of what they mean.
struct DERReader {
  static let sequence: UInt8 = 0x30

  struct Element {
    var tag: UInt8
    var content: ArraySlice<UInt8>
    /// Tag and length included.
    var whole: ArraySlice<UInt8>
  }

  private var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  var isAtEnd: Bool { rest.isEmpty }

  /// `nil` at the end, and for what is not DER.
  mutating func next() -> Element? {
    let start = rest
    guard let tag = rest.popFirst(), tag & 0x1F != 0x1F, let first = rest.popFirst() else { return nil }
    var length = Int(first)
    if first & 0x80 != 0 {
      let count = Int(first & 0x7F)
      guard (1...4).contains(count), rest.count >= count else { return nil }
      length = rest.prefix(count).reduce(0) { $0 << 8 | Int($1) }
      rest = rest.dropFirst(count)
    }
    guard rest.count >= length else { return nil }
    let content = rest.prefix(length)  // checked: length is made of unsigned bytes
    rest = rest.dropFirst(length)  // checked: length is made of unsigned bytes
    return Element(tag: tag, content: content, whole: start[start.startIndex..<content.endIndex])
  }
}

/// The blocks of a PEM text (RFC 7468).
enum PEM {
  struct Block {
    var label: String
    /// `nil` where the text between the lines is not Base64.
    var bytes: Data?
  }

  static func blocks(in text: String) -> [Block] {
    var blocks: [Block] = []
    var label: String?
    var base64 = ""
    for line in text.split(whereSeparator: \.isNewline) {
      let line = line.trimmingBlanks()
      if line.hasPrefix("-----BEGIN "), line.hasSuffix("-----") {
        label = String(line.dropFirst(11).dropLast(5))
        base64 = ""
      } else if line.hasPrefix("-----END "), let begun = label {
        blocks.append(Block(label: begun, bytes: base64.isEmpty ? nil : Data(base64Encoded: base64)))
        label = nil
      } else if label != nil {
        base64 += line
      }
    }
    return blocks
  }
}
