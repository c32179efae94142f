import Foundation

/// A test certificate authority and a server certificate signed by it, made with `openssl`.
public final class TestCertificates: Sendable {
  private let directory: TemporaryDirectory
  private let name: String

  /// The authority's certificate as PEM, which clients must trust.
  public var authority: String { directory.path(isSelfSigned ? "server.pem" : "ca.pem") }
  /// The server's certificate: PEM.
  public var certificate: String { directory.path("\(name).pem") }
  /// The server's private key: PEM.
  public var key: String { directory.path("server.key") }
  private let isSelfSigned: Bool

  /// Makes certificates for these names, which may be IP addresses.
  ///
  /// - Parameters:
  ///   - days: the validity of the server's certificate; a negative value makes an expired one.
  ///   - isSelfSigned: whether the server's certificate is its own authority.
  public init(
    names: [String] = ["127.0.0.1", "localhost"], days: Int = 2, isSelfSigned: Bool = false
  ) async throws {
    directory = try TemporaryDirectory()
    name = "server"
    self.isSelfSigned = isSelfSigned
    let entries = names.map { name in
      name.allSatisfy { $0.isNumber || $0 == "." } || name.contains(":") ? "IP:\(name)" : "DNS:\(name)"
    }
    let alternatives = "subjectAltName=\(entries.joined(separator: ","))"
    try directory.file("server.ext", text: "\(alternatives)\nextendedKeyUsage=serverAuth\n")
    if isSelfSigned {
      try await openssl("\(Self.request) -x509 -keyout server.key -out server.pem -days \(days) -subj /CN=self")
      return
    }
    try await openssl("\(Self.request) -x509 -keyout ca.key -out ca.pem -days 2 -subj /CN=test-ca")
    try await openssl("\(Self.request) -keyout server.key -out server.csr -subj /CN=test")
    try await openssl(
      "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -set_serial 2 -days \(days) -extfile server.ext -out server.pem"
    )
  }

  private init(renewing other: TestCertificates) {
    directory = other.directory
    name = "renewed"
    isSelfSigned = false
  }

  /// Another certificate for the same names and the same key, by the same authority.
  public func renewed() async throws -> TestCertificates {
    try await openssl(
      "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -set_serial 3 -days 2 -extfile server.ext -out renewed.pem")
    return TestCertificates(renewing: self)
  }

  /// The authority's revocation list, PEM, with the server's certificate on it or not.
  public func revocationList(revoking isRevoked: Bool) async throws -> String {
    let name = isRevoked ? "revoked" : "clean"
    try directory.file(
      "\(name).cnf",
      text: "[ca]\ndefault_ca=d\n[d]\ndatabase=\(name).txt\ncrlnumber=\(name).number\ndefault_md=sha256\n")
    try directory.file("\(name).txt", text: isRevoked ? "R\t400101000000Z\t240101000000Z\t02\tunknown\t/CN=test\n" : "")
    try directory.file("\(name).number", text: "01\n")
    try await openssl(
      "ca -gencrl -config \(name).cnf -cert ca.pem -keyfile ca.key -crldays 2 -out \(name).crl")
    return directory.path("\(name).crl")
  }

  /// A client's certificate by the same authority.
  public struct Client: Sendable {
    /// PEM.
    public let certificate: String
    /// The key as PEM, plain and encrypted.
    public let key, encryptedKey: String
    /// PKCS#12, encrypted.
    public let pkcs12: String
    /// The password of the encrypted files.
    public let passphrase: String
  }

  public func client() async throws -> Client {
    try await openssl("\(Self.request) -keyout client.key -out client.csr -subj /CN=somebody")
    try await openssl("x509 -req -in client.csr -CA ca.pem -CAkey ca.key -set_serial 9 -days 2 -out client.pem")
    try await openssl("pkey -in client.key -aes256 -passout pass:open-sesame -out encrypted.key")
    try await openssl("pkcs12 -export -in client.pem -inkey client.key -passout pass:open-sesame -out client.p12")
    return Client(
      certificate: directory.path("client.pem"), key: directory.path("client.key"),
      encryptedKey: directory.path("encrypted.key"), pkcs12: directory.path("client.p12"), passphrase: "open-sesame")
  }

  /// The server's public key as `openssl` reads it from its certificate: PEM.
  public func publicKey() async throws -> String { try await openssl("x509 -in \(name).pem -noout -pubkey") }

  private static let request = "req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"

  @discardableResult
  private func openssl(_ arguments: String) async throws -> String {
    var words = arguments.split(separator: " ").map(String.init)
    if words[0] == "req", words.contains("-x509"), words.contains("/CN=self") {
      words += ["-addext", try String(contentsOfFile: directory.path("server.ext"), encoding: .utf8).lines[0]]
    }
    let launch = Launch(try BuiltPrograms.system("openssl"), words, directory: directory.path)
    return try await launch.runSuccessfully().stdout
  }
}

extension String {
  fileprivate var lines: [String] { split(separator: "\n").map(String.init) }
}
