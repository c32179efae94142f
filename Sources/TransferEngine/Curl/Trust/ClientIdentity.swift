public import FoundationEssentials

/// A certificate with its private key, for TLS client authentication.
public struct ClientIdentity: Hashable, Sendable {
  enum Source: Hashable, Sendable {
    case pemFiles(certificate: String, key: String)
    case pem(certificate: Data, key: Data)
    case pkcs12File(String)
    case pkcs12(Data)
  }

  let source: Source
  /// The key's passphrase.
  let passphrase: String?

  /// PEM files, read for each new connection.
  /// - Parameters:
  ///   - certificateFile: the certificate, followed by the chain to its authority.
  ///   - keyFile: the private key.
  ///   - passphrase: the key's; `nil` if it has none.
  public static func pem(
    certificateFile: String, keyFile: String, passphrase: String? = nil
  ) -> ClientIdentity {
    ClientIdentity(source: .pemFiles(certificate: certificateFile, key: keyFile), passphrase: passphrase)
  }

  /// A certificate with its chain, and its private key; both PEM.
  public static func pem(certificate: Data, key: Data, passphrase: String? = nil) -> ClientIdentity {
    ClientIdentity(source: .pem(certificate: certificate, key: key), passphrase: passphrase)
  }

  /// A PKCS#12 file (`.p12`, `.pfx`), read for each new connection.
  public static func pkcs12(file: String, passphrase: String? = nil) -> ClientIdentity {
    ClientIdentity(source: .pkcs12File(file), passphrase: passphrase)
  }

  /// Certificate and key in one PKCS #12 container.
  public static func pkcs12(_ data: Data, passphrase: String? = nil) -> ClientIdentity {
    ClientIdentity(source: .pkcs12(data), passphrase: passphrase)
  }
}

extension ClientIdentity {
  /// Why the texts of two files are not a certificate and its key.
  public enum InvalidPEM: Error, Equatable, CustomStringConvertible {
    /// The first text has no certificate.
    case noCertificate
    /// Neither text has a private key.
    case noKey
    /// The key has a passphrase, and there is no option for it.
    case encryptedKey

    public var description: String {
      switch self {
      case .noCertificate: "it holds no PEM certificate"
      case .noKey: "it holds no PEM private key"
      case .encryptedKey: "its private key has a passphrase; write one without: openssl pkey -in FILE -out NEW"
      }
    }
  }

  /// A certificate with its chain, and its private key without a passphrase; both PEM. Whether they belong together is found
  /// when they are used.
  /// - Parameter key: `nil`: the key is in the certificate's text.
  /// - Throws: `InvalidPEM`.
  public init(certificatePEM: Data, keyPEM: Data?) throws(InvalidPEM) {
    func labels(_ data: Data) -> [String] { PEM.blocks(in: String(decoding: data, as: UTF8.self)).map(\.label) }
    guard labels(certificatePEM).contains(where: { $0.hasSuffix("CERTIFICATE") }) else { throw .noCertificate }
    let key = keyPEM ?? certificatePEM
    let keys = labels(key).filter { $0.hasSuffix("PRIVATE KEY") }
    guard !keys.isEmpty else { throw .noKey }
    let isEncrypted = String(decoding: key, as: UTF8.self).contains("Proc-Type: 4,ENCRYPTED")
    guard !isEncrypted, !keys.contains("ENCRYPTED PRIVATE KEY") else { throw .encryptedKey }
    self.init(source: .pem(certificate: certificatePEM, key: key), passphrase: nil)
  }
}

extension ClientIdentity: CustomStringConvertible {
  /// Without the key and its passphrase.
  public var description: String {
    switch source {
    case .pemFiles(let certificate, _): "ClientIdentity(\(certificate))"
    case .pkcs12File(let path): "ClientIdentity(\(path))"
    case .pem, .pkcs12: "ClientIdentity(***)"
    }
  }
}

extension ClientIdentity: CustomReflectable {
  /// Keeps the key out of `dump` and of the output of test libraries.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
