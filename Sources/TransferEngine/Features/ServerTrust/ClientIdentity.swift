public import FoundationEssentials

/// A certificate and its private key, with which a client proves who it is (TLS client authentication).
public struct ClientIdentity: Hashable, Sendable {
  enum Source: Hashable, Sendable {
    case pemFiles(certificate: String, key: String)
    case pem(certificate: Data, key: Data)
    case pkcs12File(String)
    case pkcs12(Data)
  }

  let source: Source
  /// Of the key.
  let passphrase: String?

  /// PEM files, read for each new connection.
  /// - Parameter certificateFile: the certificate, and after it those that lead to its authority.
  /// - Parameter keyFile: the private key, PEM.
  /// - Parameter passphrase: the key's; `nil` where it has none.
  public static func pem(
    certificateFile: String, keyFile: String, passphrase: String? = nil
  ) -> ClientIdentity {
    ClientIdentity(source: .pemFiles(certificate: certificateFile, key: keyFile), passphrase: passphrase)
  }

  /// A certificate, the chain above it where there is one, and its private key: both PEM.
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
  /// Never the key or its passphrase.
  public var description: String {
    switch source {
    case .pemFiles(let certificate, _): "ClientIdentity(\(certificate))"
    case .pkcs12File(let path): "ClientIdentity(\(path))"
    case .pem, .pkcs12: "ClientIdentity(***)"
    }
  }
}

extension ClientIdentity: CustomReflectable {
  /// Keeps the key out of `dump` and of what test libraries print.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Which identity is shown to which origin. No other origin sees it, not after a redirect either.
public struct ClientIdentities: Hashable, Sendable {
  private var byOrigin: [String: ClientIdentity] = [:]

  /// None.
  public init() {}

  /// By scheme, host and port of the URL; the rest of it does not matter.
  public subscript(url: RequestURL) -> ClientIdentity? {
    get { byOrigin[url.origin] }
    set { byOrigin[url.origin] = newValue }
  }
}
