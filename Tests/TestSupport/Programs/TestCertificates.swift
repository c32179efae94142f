import Foundation

/// A certificate authority of the test's own and a server certificate it signed, made by `openssl`.
public final class TestCertificates: Sendable {
  private let directory: TemporaryDirectory

  /// What a client must trust: PEM.
  public var authority: String { directory.path("ca.pem") }
  /// The server's certificate: PEM.
  public var certificate: String { directory.path("server.pem") }
  /// The server's private key: PEM.
  public var key: String { directory.path("server.key") }

  /// Makes certificates for these names, which may be IP addresses.
  ///
  /// - Parameter days: how long the server's certificate is valid; negative makes one that has expired.
  public init(names: [String] = ["127.0.0.1", "localhost"], days: Int = 2) async throws {
    directory = try TemporaryDirectory()
    let entries = names.map { name in
      name.allSatisfy { $0.isNumber || $0 == "." } || name.contains(":") ? "IP:\(name)" : "DNS:\(name)"
    }
    let extensions = "subjectAltName=\(entries.joined(separator: ","))\nextendedKeyUsage=serverAuth\n"
    try directory.file("server.ext", text: extensions)
    try await openssl(
      "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key -out ca.pem -days 2 -subj /CN=test-ca"
    )
    try await openssl(
      "req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout server.key -out server.csr -subj /CN=test"
    )
    try await openssl(
      "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -set_serial 2 -days \(days) -extfile server.ext -out server.pem"
    )
  }

  private func openssl(_ arguments: String) async throws {
    let launch = Launch(
      try BuiltPrograms.system("openssl"), arguments.split(separator: " ").map(String.init),
      directory: directory.path)
    try await launch.runSuccessfully()
  }
}
