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
