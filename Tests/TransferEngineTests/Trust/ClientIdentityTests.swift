import Foundation
import TestSupport
import Testing

@testable import TransferEngine

/// Client certificates. nginx returns the certificate that it got.
@Suite(.timeLimit(.minutes(5))) struct ClientIdentityTests {
  private static func server(_ certificates: TestCertificates, _ more: String = "") async throws -> Nginx {
    let directives = """
      ssl_client_certificate \(certificates.authority); ssl_verify_client optional;
      location / { return 200 "$ssl_client_verify $ssl_client_s_dn"; }
      \(more)
      """
    return try await Nginx(.init(certificates: certificates, directives: directives))
  }

  private static func configuration(_ certificates: TestCertificates) -> SessionConfiguration {
    var configuration = SessionConfiguration()
    configuration.certificateAuthorityFile = certificates.authority
    return configuration
  }

  @Test("client certificates work as PEM and PKCS#12, from files and memory, with and without passphrase")
  func forms() async throws {
    let certificates = try await TestCertificates()
    let nginx = try await Self.server(certificates)
    let client = try await certificates.client()
    let url = try RequestURL(nginx.url("/"))
    func bytes(_ path: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }
    let identities: [ClientIdentity] = [
      .pem(certificateFile: client.certificate, keyFile: client.key),
      .pem(certificateFile: client.certificate, keyFile: client.encryptedKey, passphrase: client.passphrase),
      .pem(certificate: try bytes(client.certificate), key: try bytes(client.key)),
      .pem(
        certificate: try bytes(client.certificate), key: try bytes(client.encryptedKey), passphrase: client.passphrase),
      .pkcs12(file: client.pkcs12, passphrase: client.passphrase),
      .pkcs12(try bytes(client.pkcs12), passphrase: client.passphrase),
    ]
    for identity in identities {
      var configuration = Self.configuration(certificates)
      configuration.clientIdentities[url] = identity
      let response = await Session(configuration: configuration).request(url).response()
      #expect(response.error == nil, "\(identity)")
      #expect(String(decoding: response.data ?? Data(), as: UTF8.self) == "SUCCESS CN=somebody", "\(identity)")
      #expect(!"\(identity)".contains(client.passphrase))
    }
  }

  @Test("a wrong or missing passphrase and a missing file fail permanently, without a prompt")
  func unusable() async throws {
    let certificates = try await TestCertificates()
    let nginx = try await Self.server(certificates)
    let client = try await certificates.client()
    let url = try RequestURL(nginx.url("/"))
    for identity: ClientIdentity in [
      .pem(certificateFile: client.certificate, keyFile: client.encryptedKey),
      .pem(certificateFile: client.certificate, keyFile: client.encryptedKey, passphrase: "wrong"),
      .pkcs12(file: client.pkcs12, passphrase: "wrong"), .pkcs12(file: client.pkcs12),
      .pem(certificateFile: "/nonexistent.pem", keyFile: client.key), .pkcs12(Data("nonsense".utf8)),
    ] {
      var configuration = Self.configuration(certificates)
      configuration.clientIdentities[url] = identity
      let error = await Session(configuration: configuration).request(url).response().error
      guard case .connection(.tls(_, _, isTransient: false))? = error else {
        Issue.record("\(identity): \(String(describing: error))")
        continue
      }
    }
  }

  /// TLS 1.3: the server says so after the handshake. To libcurl the connection just broke.
  @Test("a server that requires a client certificate, or refuses it, is a permanent error that says so")
  func required() async throws {
    let (certificates, stranger) = (try await TestCertificates(), try await TestCertificates(isSelfSigned: true))
    let client = try await certificates.client()
    let server = try await H2Server(certificates, serving: Data("file".utf8), requiresClient: true)
    let url = try RequestURL(server.url("/a"))
    for (identity, reason) in [
      (.pem(certificateFile: client.certificate, keyFile: client.key), nil),
      (nil, "the server requires a client certificate"),
      (
        .pem(certificateFile: stranger.certificate, keyFile: stranger.key),
        "the server refuses the client certificate: it does not know its authority"
      ),
    ] as [(ClientIdentity?, String?)] {
      var configuration = Self.configuration(certificates)
      configuration.clientIdentities[url] = identity
      var error = await Session(configuration: configuration).request(url).response().error
      guard let reason else {
        #expect(error == nil)
        continue
      }
      // Now and then libcurl notices first that it cannot send any more, and does not read the alert.
      for _ in 0..<20 {
        guard case .connection(.broken)? = error else { break }
        error = await Session(configuration: configuration).request(url).response().error
      }
      guard case .connection(.tls(_, reason, isTransient: false))? = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
    }
  }

  @Test("a client certificate is sent only to its own origin, not to the target of a redirect")
  func origins() async throws {
    let certificates = try await TestCertificates()
    let client = try await certificates.client()
    let other = try await Self.server(certificates)
    let nginx = try await Self.server(certificates, "location /away { return 302 \(other.url("/")); }")
    var configuration = Self.configuration(certificates)
    configuration.clientIdentities[try RequestURL(nginx.url("/whatever"))] = .pem(
      certificateFile: client.certificate, keyFile: client.key)
    let session = Session(configuration: configuration)
    func answer(_ url: String) async throws -> String {
      String(decoding: await session.request(try RequestURL(url)).response().data ?? Data(), as: UTF8.self)
    }
    #expect(try await answer(nginx.url("/")) == "SUCCESS CN=somebody")
    #expect(try await answer(nginx.url("/away")) == "NONE ")
    #expect(try await answer(other.url("/")) == "NONE ")
    // A different host name of the same server is a different origin.
    #expect(try await answer("https://localhost:\(nginx.port)/") == "NONE ")
  }
}
