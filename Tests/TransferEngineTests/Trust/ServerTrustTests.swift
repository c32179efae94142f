import Foundation
import Synchronization
import TestSupport
import Testing

@testable import TransferEngine

/// Evaluators, tested with nginx.
@Suite(.timeLimit(.minutes(5))) struct ServerTrustTests {
  /// A server whose certificate is signed by its own authority.
  private struct Fixture {
    let certificates: TestCertificates
    let nginx: Nginx
    let url: RequestURL

    init(_ certificates: TestCertificates? = nil, directives: String = "") async throws {
      if let certificates { self.certificates = certificates } else { self.certificates = try await TestCertificates() }
      nginx = try await Nginx(
        .init(certificates: self.certificates, directives: directives + " location / { return 200 hello; }"))
      url = try RequestURL(nginx.url("/"))
    }

    func session(
      _ evaluator: any ServerTrustEvaluating, believing authority: String? = nil,
      monitors: [any EventMonitor] = []
    ) -> Session {
      var configuration = SessionConfiguration()
      configuration.certificateAuthorityFile = authority
      return Session(
        configuration: configuration,
        serverTrustManager: ServerTrustManager(evaluators: ["127.0.0.1": evaluator, "localhost": evaluator]),
        eventMonitors: monitors)
    }

    func error(_ evaluator: any ServerTrustEvaluating, believing authority: String? = nil) async -> TransferError? {
      await session(evaluator, believing: authority).request(url).response().error
    }

    var leaf: Certificate {
      get throws { try #require(try Certificate.certificates(inFile: certificates.certificate).first) }
    }
  }

  private static func isTLS(_ error: TransferError?) -> Bool {
    guard case .connection(.tls(_, _, isTransient: false))? = error else { return false }
    return true
  }

  private static func isPinning(_ error: TransferError?) -> Bool {
    switch error {
    case .serverTrust(.publicKeyPinningFailed), .serverTrust(.certificatePinningFailed): true
    default: false
    }
  }

  @Test("only the evaluator's own authority is trusted, from a file or from bytes")
  func authority() async throws {
    let fixture = try await Fixture()
    let other = try await TestCertificates()
    #expect(await fixture.error(try CertificateAuthorityEvaluator(file: fixture.certificates.authority)) == nil)
    let bytes = try Data(contentsOf: URL(fileURLWithPath: fixture.certificates.authority))
    #expect(await fixture.error(try CertificateAuthorityEvaluator(pem: bytes)) == nil)
    #expect(Self.isTLS(await fixture.error(try CertificateAuthorityEvaluator(file: other.authority))))
    #expect(Self.isTLS(await fixture.error(DefaultTrustEvaluator())))
    #expect(await fixture.error(DefaultTrustEvaluator(), believing: fixture.certificates.authority) == nil)
    // The evaluator's authority overrides the session's authority file.
    let wrong = try CertificateAuthorityEvaluator(file: other.authority)
    #expect(Self.isTLS(await fixture.error(wrong, believing: fixture.certificates.authority)))
  }

  @Test("pinned keys work with and without certificate authorities")
  func keys() async throws {
    let fixture = try await Fixture()
    let (right, authority) = (try fixture.leaf.publicKeyPin, fixture.certificates.authority)
    let wrong = PublicKeyPin(subjectPublicKeyInfo: Data("wrong".utf8))
    #expect(await fixture.error(PublicKeysTrustEvaluator(keys: [wrong, right]), believing: authority) == nil)
    #expect(Self.isPinning(await fixture.error(PublicKeysTrustEvaluator(keys: [wrong]), believing: authority)))
    #expect(Self.isPinning(await fixture.error(PublicKeysTrustEvaluator(keys: []), believing: authority)))
    #expect(Self.isTLS(await fixture.error(PublicKeysTrustEvaluator(keys: [right]))))
    let alone = PublicKeysTrustEvaluator(keys: [right], performDefaultValidation: false)
    #expect(await fixture.error(alone) == nil)
    let none = PublicKeysTrustEvaluator(keys: [wrong], performDefaultValidation: false, validateHost: false)
    #expect(Self.isPinning(await fixture.error(none)))
  }

  @Test("a pinned certificate is accepted, but a renewed certificate with the same key is not")
  func pinnedCertificates() async throws {
    let fixture = try await Fixture()
    let authority = fixture.certificates.authority
    let renewed = try await Fixture(try await fixture.certificates.renewed())
    let issuer = try Certificate.certificates(inFile: authority)
    let leaf = PinnedCertificatesTrustEvaluator(certificates: [try fixture.leaf])
    #expect(await fixture.error(leaf, believing: authority) == nil)
    #expect(Self.isTLS(await fixture.error(leaf)))
    // The certificate has the same key but is a different certificate.
    #expect(Self.isPinning(await renewed.error(leaf, believing: authority)))
    #expect(
      await renewed.error(PublicKeysTrustEvaluator(keys: [try fixture.leaf.publicKeyPin]), believing: authority) == nil)
    let other = PinnedCertificatesTrustEvaluator(certificates: [try await Fixture().leaf])
    #expect(Self.isPinning(await fixture.error(other, believing: authority)))
    // The only trusted authority is the leaf itself, or its issuer.
    for certificates in [[try fixture.leaf], issuer] {
      let evaluator = PinnedCertificatesTrustEvaluator(certificates: certificates, acceptSelfSignedCertificates: true)
      #expect(await fixture.error(evaluator) == nil)
    }
    let stranger = PinnedCertificatesTrustEvaluator(
      certificates: other.certificates, acceptSelfSignedCertificates: true)
    #expect(Self.isTLS(await fixture.error(stranger, believing: authority)))
  }

  @Test("a self-signed certificate is accepted only if it is pinned, and only for its own names")
  func selfSigned() async throws {
    let fixture = try await Fixture(try await TestCertificates(isSelfSigned: true))
    let pinned = PinnedCertificatesTrustEvaluator(certificates: [try fixture.leaf], acceptSelfSignedCertificates: true)
    #expect(await fixture.error(pinned) == nil)
    #expect(Self.isTLS(await fixture.error(DefaultTrustEvaluator())))
    let elsewhere = try await Fixture(try await TestCertificates(names: ["other.test"], isSelfSigned: true))
    let certificates = [try elsewhere.leaf]
    let strict = PinnedCertificatesTrustEvaluator(certificates: certificates, acceptSelfSignedCertificates: true)
    #expect(Self.isTLS(await elsewhere.error(strict)))
    let lenient = PinnedCertificatesTrustEvaluator(
      certificates: certificates, acceptSelfSignedCertificates: true, validateHost: false)
    #expect(await elsewhere.error(lenient) == nil)
  }

  @Test("a revoked certificate and a missing revocation list are permanent errors")
  func revocation() async throws {
    let fixture = try await Fixture()
    let authority = try CertificateAuthorityEvaluator(file: fixture.certificates.authority)
    func error(_ list: String) async -> TransferError? {
      let evaluators: [any ServerTrustEvaluating] = [
        TrustOnly(TrustPolicy(authorities: .anybody, revocationListFile: list)), authority,
      ]
      return await fixture.error(CompositeTrustEvaluator(evaluators: evaluators))
    }
    #expect(await error(try await fixture.certificates.revocationList(revoking: false)) == nil)
    #expect(Self.isTLS(await error(try await fixture.certificates.revocationList(revoking: true))))
    #expect(Self.isTLS(await error("/nonexistent/list.pem")))
    let plain = RevocationTrustEvaluator(
      revocationListFile: try await fixture.certificates.revocationList(revoking: true))
    #expect(Self.isTLS(await fixture.error(plain, believing: fixture.certificates.authority)))
    let clean = RevocationTrustEvaluator(
      revocationListFile: try await fixture.certificates.revocationList(revoking: false))
    #expect(await fixture.error(clean, believing: fixture.certificates.authority) == nil)
  }

  @Test("DisabledTrustEvaluator accepts every certificate and reports this once for each host")
  func disabled() async throws {
    let fixture = try await Fixture(try await TestCertificates(names: ["other.test"], days: -1))
    let recorder = EventRecorder()
    let session = fixture.session(DisabledTrustEvaluator(), monitors: [recorder])
    for _ in 0..<3 { #expect(await session.request(fixture.url).response().error == nil) }
    let other = try RequestURL("https://localhost:\(fixture.nginx.port)/")
    #expect(await session.request(other).response().error == nil)
    let hosts = recorder.events.value.compactMap { if case .skipServerTrust(let host) = $0 { host } else { nil } }
    #expect(hosts == ["127.0.0.1", "localhost"])
  }

  @Test("no connection is opened to a host without an evaluator")
  func noEvaluator() async throws {
    let server = try LoopbackServer { _ in .response(200) }
    let session = Session(serverTrustManager: ServerTrustManager(evaluators: [:]))
    let url = try RequestURL("https://127.0.0.1:\(server.port)/")
    guard case .serverTrust(.noRequiredEvaluator)? = await session.request(url).response().error else {
      Issue.record("not refused")
      return
    }
    #expect(server.counters.connections == 0)
    // Without TLS there is nothing to evaluate.
    #expect(await session.request(try RequestURL(server.url("/"))).response().error == nil)
  }

  @Test("an evaluator with a wildcard name is used for a matching host")
  func wildcard() async throws {
    let fixture = try await Fixture(try await TestCertificates(names: ["*.example.localhost"]))
    let evaluator = try CertificateAuthorityEvaluator(file: fixture.certificates.authority)
    let session = Session(serverTrustManager: ServerTrustManager(evaluators: ["*.example.localhost": evaluator]))
    let url = try RequestURL("https://www.example.localhost:\(fixture.nginx.port)/")
    #expect(await session.request(url).response().error == nil)
  }

  @Test("a connection is reused only under its own trust policy")
  func reuse() async throws {
    let fixture = try await Fixture()
    let authority = try Certificate.certificates(inFile: fixture.certificates.authority)
    let others = try await TestCertificates()
    let stranger = try Certificate.certificates(inFile: others.authority)
    let leaf = try fixture.leaf
    let wrong = PublicKeyPin(subjectPublicKeyInfo: Data("wrong".utf8))
    let believed: [TrustPolicy] = [
      .none, TrustPolicy(authorities: .certificates(authority)),
      TrustPolicy(authorities: .certificates(authority), publicKeys: [leaf.publicKeyPin]),
      TrustPolicy(authorities: .certificates(authority), certificates: [leaf]),
      TrustPolicy(authorities: .anybody, validatesHost: false, publicKeys: [leaf.publicKeyPin]),
      TrustPolicy(
        authorities: .certificates(authority),
        revocationListFile: try await fixture.certificates.revocationList(revoking: false)),
    ]
    let refused: [TrustPolicy] = [
      .system, TrustPolicy(authorities: .certificates(stranger)), TrustPolicy(validatesHost: false),
      TrustPolicy(authorities: .certificates(authority), publicKeys: [wrong]),
      TrustPolicy(authorities: .anybody, validatesHost: false, publicKeys: [wrong]),
      TrustPolicy(authorities: .certificates(authority), certificates: Set(stranger)),
      TrustPolicy(
        authorities: .certificates(authority),
        revocationListFile: try await fixture.certificates.revocationList(revoking: true)),
    ]
    let evaluator = Changing()
    let session = fixture.session(evaluator)
    for policy in believed {
      evaluator.policy.withLock { $0 = policy }
      let first = await session.request(fixture.url).response()
      let second = await session.request(fixture.url).response()
      #expect(first.error == nil && second.error == nil)
      #expect(first.metrics.last?.isConnectionReused == false, "a connection of another policy was used: \(policy)")
      #expect(second.metrics.last?.isConnectionReused == true)
    }
    for policy in refused {
      evaluator.policy.withLock { $0 = policy }
      #expect(await session.request(fixture.url).response().error != nil, "\(policy)")
    }
    // The first policies work again after the refused ones.
    for policy in believed {
      evaluator.policy.withLock { $0 = policy }
      #expect(await session.request(fixture.url).response().error == nil)
    }
  }

  @Test("certificates with the same key are told apart by pinning, also on an open connection")
  func sameKey() async throws {
    let fixture = try await Fixture()
    let renewed = try await fixture.certificates.renewed()
    let authority = try Certificate.certificates(inFile: fixture.certificates.authority)
    let other = try #require(try Certificate.certificates(inFile: renewed.certificate).first)
    let evaluator = Changing()
    let session = fixture.session(evaluator)
    let leaf = try fixture.leaf
    evaluator.policy.withLock {
      $0 = TrustPolicy(authorities: .certificates(authority), certificates: [leaf])
    }
    #expect(await session.request(fixture.url).response().error == nil)
    evaluator.policy.withLock { $0 = TrustPolicy(authorities: .certificates(authority), certificates: [other]) }
    guard case .serverTrust(.certificatePinningFailed)? = await session.request(fixture.url).response().error else {
      Issue.record("believed")
      return
    }
  }

  @Test("a server whose TLS version is below minimumTLSVersion is refused")
  func floor() async throws {
    let fixture = try await Fixture(directives: "ssl_protocols TLSv1.2;")
    var configuration = SessionConfiguration()
    configuration.certificateAuthorityFile = fixture.certificates.authority
    #expect(await Session(configuration: configuration).request(fixture.url).response().error == nil)
    configuration.minimumTLSVersion = .v1_3
    guard case .connection(.tls)? = await Session(configuration: configuration).request(fixture.url).response().error
    else {
      Issue.record("TLS 1.2 was spoken")
      return
    }
  }
}

/// An evaluator whose policy can be changed.
private final class Changing: ServerTrustEvaluating {
  let policy = Mutex(TrustPolicy.system)
  func policy(forHost host: String) -> TrustPolicy { policy.withLock { $0 } }
}

private struct TrustOnly: ServerTrustEvaluating {
  let policy: TrustPolicy
  init(_ policy: TrustPolicy) { self.policy = policy }
  func policy(forHost host: String) -> TrustPolicy { policy }
}
