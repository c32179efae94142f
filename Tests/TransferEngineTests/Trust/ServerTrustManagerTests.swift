import Foundation
import TestSupport
import Testing

@testable import TransferEngine

@Suite struct ServerTrustManagerTests {
  private struct Named: ServerTrustEvaluating {
    let name: String
    func policy(forHost host: String) -> TrustPolicy { .system }
  }

  private static func manager(all: Bool) -> ServerTrustManager {
    ServerTrustManager(
      allHostsMustBeEvaluated: all,
      evaluators: [
        "example.com": Named(name: "exact"), "*.example.com": Named(name: "wild"),
        "API.example.com": Named(name: "api"),
        "127.0.0.1": Named(name: "v4"), "[::1]": Named(name: "v6"), "*.0.0.1": Named(name: "never"),
      ])
  }

  @Test(
    "an exact name is matched before a wildcard, and a wildcard matches one label",
    arguments: [
      ("example.com", "exact"), ("EXAMPLE.com", "exact"), ("example.com.", "exact"), ("www.example.com", "wild"),
      ("api.example.com", "api"), ("a.b.example.com", nil), ("badexample.com", nil), ("com", nil), ("127.0.0.1", "v4"),
      ("10.0.0.1", nil), ("[::1]", "v6"), ("::1", "v6"), ("www.example.com.", "wild"), ("", nil),
      (".example.com", "wild"),
    ] as [(String, String?)])
  func matching(_ host: String, _ expected: String?) throws {
    let found = try Self.manager(all: false).serverTrustEvaluator(forHost: host) as? Named
    #expect(found?.name == expected)
  }

  @Test("a host without an evaluator is refused if allHostsMustBeEvaluated is set")
  func required() throws {
    let error = #expect(throws: TransferError.self) {
      try Self.manager(all: true).serverTrustEvaluator(forHost: "other.test")
    }
    guard case .serverTrust(.noRequiredEvaluator(host: "other.test"))? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(error?.isTransient == false)
    #expect("\(error!)".contains("other.test"))
    #expect(try Self.manager(all: true).serverTrustEvaluator(forHost: "example.com") != nil)
  }

  @Test("an evaluator's error is reported with its host")
  func evaluatorThrows() throws {
    struct Failing: ServerTrustEvaluating {
      func policy(forHost host: String) throws -> TrustPolicy { throw CocoaError(.fileNoSuchFile) }
    }
    let error = #expect(throws: TransferError.self) {
      try ServerTrustManager(evaluators: ["h": Failing()]).policy(forHost: "h")
    }
    guard case .serverTrust(.evaluatorFailed(host: "h", _))? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test("combined policies apply the rules of all evaluators")
  func combining() throws {
    let (one, two) = (
      PublicKeyPin(subjectPublicKeyInfo: Data("1".utf8)), PublicKeyPin(subjectPublicKeyInfo: Data("2".utf8))
    )
    let evaluators: [any ServerTrustEvaluating] = [
      DisabledTrustEvaluator(), PublicKeysTrustEvaluator(keys: [one, two], validateHost: false),
      PublicKeysTrustEvaluator(keys: [two]), RevocationTrustEvaluator(revocationListFile: "/r.pem"),
    ]
    let policy = try CompositeTrustEvaluator(evaluators: evaluators).policy(forHost: "h")
    #expect(
      policy
        == TrustPolicy(authorities: .system, validatesHost: true, publicKeys: [two], revocationListFile: "/r.pem"))
    #expect(!policy.provesNothing)
    #expect(try CompositeTrustEvaluator(evaluators: []).policy(forHost: "h") == .system)
    #expect(try CompositeTrustEvaluator(evaluators: [DisabledTrustEvaluator()]).policy(forHost: "h").provesNothing)
    // The evaluators share no key, so no certificate is accepted. That differs from a policy without pins.
    let none = try CompositeTrustEvaluator(
      evaluators: [PublicKeysTrustEvaluator(keys: [one]), PublicKeysTrustEvaluator(keys: [two])]
    ).policy(forHost: "h")
    #expect(none.publicKeys == [])
    #expect(none.pins != nil)
  }

  @Test("two authorities or two lists cannot be combined")
  func conflicts() async throws {
    let certificates = try await TestCertificates()
    let authority = try CertificateAuthorityEvaluator(file: certificates.authority)
    for other: any ServerTrustEvaluating in [
      DefaultTrustEvaluator(), try CertificateAuthorityEvaluator(file: certificates.certificate),
    ] {
      #expect(throws: TransferError.self) {
        try CompositeTrustEvaluator(evaluators: [authority, other]).policy(forHost: "h")
      }
    }
    #expect(
      try CompositeTrustEvaluator(evaluators: [authority, authority]).policy(forHost: "h").authorities != .system)
    #expect(throws: TransferError.self) {
      try TrustPolicy(revocationListFile: "/a").combined(with: TrustPolicy(revocationListFile: "/b"))
    }
  }

  @Test("a policy proves nothing without host validation and without a pin")
  func provesNothing() throws {
    #expect(TrustPolicy.none.provesNothing)
    #expect(DefaultTrustEvaluator(validateHost: false).policy(forHost: "h").provesNothing)
    #expect(!TrustPolicy.system.provesNothing)
    let pin = PublicKeyPin(subjectPublicKeyInfo: Data())
    #expect(
      !PublicKeysTrustEvaluator(keys: [pin], performDefaultValidation: false, validateHost: false).policy(forHost: "h")
        .provesNothing)
  }
}

@Suite struct CertificateTests {
  @Test("a certificate's key has the pin that openssl gives it")
  func pin() async throws {
    let certificates = try await TestCertificates()
    let certificate = try #require(try Certificate.certificates(inFile: certificates.certificate).first)
    let pin = try PublicKeyPin(publicKeyPEM: await certificates.publicKey())
    #expect(certificate.publicKeyPin == pin)
    #expect(try PublicKeyPin(sha256: pin.description) == pin)
    #expect(pin.description.hasPrefix("sha256//"))
    #expect(try Certificate.certificates(inPEM: certificate.pem) == [certificate])
    let renewed = try await certificates.renewed()
    let other = try #require(try Certificate.certificates(inFile: renewed.certificate).first)
    #expect(other != certificate)
    #expect(other.publicKeyPin == pin)
  }

  @Test("a bundle is parsed with LF and CRLF, and keys in it are ignored")
  func bundle() async throws {
    let certificates = try await TestCertificates()
    let parts = try [certificates.authority, certificates.key, certificates.certificate].map {
      try String(contentsOfFile: $0, encoding: .utf8)
    }
    let found = try Certificate.certificates(inPEM: "# ours\n" + parts.joined(separator: "text between\n"))
    #expect(found.count == 2)
    #expect(
      try Certificate.certificates(inPEM: parts.joined().replacingOccurrences(of: "\n", with: "\r\n")) == found)
  }

  @Test(
    "malformed input is refused",
    arguments: [
      "", "nothing", "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n",
      "-----BEGIN CERTIFICATE-----\n!!!!\n-----END CERTIFICATE-----\n",
      "-----BEGIN CERTIFICATE-----\nMAMCAQE=\n-----END CERTIFICATE-----\n", "-----BEGIN CERTIFICATE-----\nMIIB",
    ])
  func refused(_ text: String) {
    #expect(throws: TransferError.self) { try Certificate.certificates(inPEM: text) }
  }

  @Test("truncated and changed certificates do not crash the parser")
  func mangled() async throws {
    let certificates = try await TestCertificates()
    let der = try #require(try Certificate.certificates(inFile: certificates.certificate).first).der
    for count in 0..<der.count { #expect(throws: TransferError.self) { try Certificate(der: der.prefix(count)) } }
    for index in 0..<der.count {
      for value: UInt8 in [0x00, 0x80, 0x84, 0xFF] {
        var copy = der
        copy[copy.startIndex + index] = value
        _ = try? Certificate(der: copy)
      }
    }
  }

  @Test("a pin is 32 bytes", arguments: ["", "AAAA", "sha256//", "sha256//AAAA", "not base64", "md5//AAAA"])
  func badPin(_ text: String) {
    #expect(throws: TransferError.self) { try PublicKeyPin(sha256: text) }
  }
}
