import Foundation
import Synchronization
import TestSupport
import Testing

@testable import TransferEngine

/// Evaluators against nginx.
@Suite(.timeLimit(.minutes(5))) struct ServerTrustTests {
  /// A server with a certificate by an authority of its own.
  private struct Room {
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

  @Test("an authority of one's own, from file or bytes, and no other")
  func authority() async throws {
    let room = try await Room()
    let other = try await TestCertificates()
    #expect(await room.error(try CertificateAuthorityEvaluator(file: room.certificates.authority)) == nil)
    let bytes = try Data(contentsOf: URL(fileURLWithPath: room.certificates.authority))
    #expect(await room.error(try CertificateAuthorityEvaluator(pem: bytes)) == nil)
    #expect(Self.isTLS(await room.error(try CertificateAuthorityEvaluator(file: other.authority))))
    #expect(Self.isTLS(await room.error(DefaultTrustEvaluator())))
    #expect(await room.error(DefaultTrustEvaluator(), believing: room.certificates.authority) == nil)
    // The session's file does not count where an evaluator names another.
    let wrong = try CertificateAuthorityEvaluator(file: other.authority)
    #expect(Self.isTLS(await room.error(wrong, believing: room.certificates.authority)))
  }

  @Test("pinned keys, with and without authorities behind them")
  func keys() async throws {
    let room = try await Room()
    let (right, authority) = (try room.leaf.publicKeyPin, room.certificates.authority)
    let wrong = PublicKeyPin(subjectPublicKeyInfo: Data("wrong".utf8))
    #expect(await room.error(PublicKeysTrustEvaluator(keys: [wrong, right]), believing: authority) == nil)
    #expect(Self.isPinning(await room.error(PublicKeysTrustEvaluator(keys: [wrong]), believing: authority)))
    #expect(Self.isPinning(await room.error(PublicKeysTrustEvaluator(keys: []), believing: authority)))
    #expect(Self.isTLS(await room.error(PublicKeysTrustEvaluator(keys: [right]))))
    let alone = PublicKeysTrustEvaluator(keys: [right], performDefaultValidation: false)
    #expect(await room.error(alone) == nil)
    let none = PublicKeysTrustEvaluator(keys: [wrong], performDefaultValidation: false, validateHost: false)
    #expect(Self.isPinning(await room.error(none)))
  }

  @Test("a pinned certificate, its authority, and one renewed for the same key")
  func pinnedCertificates() async throws {
    let room = try await Room()
    let authority = room.certificates.authority
    let renewed = try await Room(try await room.certificates.renewed())
    let issuer = try Certificate.certificates(inFile: authority)
    let leaf = PinnedCertificatesTrustEvaluator(certificates: [try room.leaf])
    #expect(await room.error(leaf, believing: authority) == nil)
    #expect(Self.isTLS(await room.error(leaf)))
    // The key is the same, the certificate is not.
    #expect(Self.isPinning(await renewed.error(leaf, believing: authority)))
    #expect(
      await renewed.error(PublicKeysTrustEvaluator(keys: [try room.leaf.publicKeyPin]), believing: authority) == nil)
    let other = PinnedCertificatesTrustEvaluator(certificates: [try await Room().leaf])
    #expect(Self.isPinning(await room.error(other, believing: authority)))
    // As the only authorities: the leaf alone, or the one that signed it.
    for certificates in [[try room.leaf], issuer] {
      let evaluator = PinnedCertificatesTrustEvaluator(certificates: certificates, acceptSelfSignedCertificates: true)
      #expect(await room.error(evaluator) == nil)
    }
    let stranger = PinnedCertificatesTrustEvaluator(
      certificates: other.certificates, acceptSelfSignedCertificates: true)
    #expect(Self.isTLS(await room.error(stranger, believing: authority)))
  }

  @Test("a self-signed certificate is believed when pinned, and only for its own names")
  func selfSigned() async throws {
    let room = try await Room(try await TestCertificates(isSelfSigned: true))
    let pinned = PinnedCertificatesTrustEvaluator(certificates: [try room.leaf], acceptSelfSignedCertificates: true)
    #expect(await room.error(pinned) == nil)
    #expect(Self.isTLS(await room.error(DefaultTrustEvaluator())))
    let elsewhere = try await Room(try await TestCertificates(names: ["other.test"], isSelfSigned: true))
    let certificates = [try elsewhere.leaf]
    let strict = PinnedCertificatesTrustEvaluator(certificates: certificates, acceptSelfSignedCertificates: true)
    #expect(Self.isTLS(await elsewhere.error(strict)))
    let lenient = PinnedCertificatesTrustEvaluator(
      certificates: certificates, acceptSelfSignedCertificates: true, validateHost: false)
    #expect(await elsewhere.error(lenient) == nil)
  }

  @Test("a revoked certificate is refused; so is a list that is not there")
  func revocation() async throws {
    let room = try await Room()
    let authority = try CertificateAuthorityEvaluator(file: room.certificates.authority)
    func error(_ list: String) async -> TransferError? {
      let evaluators: [any ServerTrustEvaluating] = [
        TrustOnly(TrustPolicy(authorities: .anybody, revocationListFile: list)), authority,
      ]
      return await room.error(CompositeTrustEvaluator(evaluators: evaluators))
    }
    #expect(await error(try await room.certificates.revocationList(revoking: false)) == nil)
    #expect(Self.isTLS(await error(try await room.certificates.revocationList(revoking: true))))
    #expect(Self.isTLS(await error("/nonexistent/list.pem")))
    let plain = RevocationTrustEvaluator(
      revocationListFile: try await room.certificates.revocationList(revoking: true))
    #expect(Self.isTLS(await room.error(plain, believing: room.certificates.authority)))
    let clean = RevocationTrustEvaluator(
      revocationListFile: try await room.certificates.revocationList(revoking: false))
    #expect(await room.error(clean, believing: room.certificates.authority) == nil)
  }

  @Test("disabled: everybody is believed, and it is said once a host")
  func disabled() async throws {
    let room = try await Room(try await TestCertificates(names: ["other.test"], days: -1))
    let recorder = EventRecorder()
    let session = room.session(DisabledTrustEvaluator(), monitors: [recorder])
    for _ in 0..<3 { #expect(await session.request(room.url).response().error == nil) }
    let other = try RequestURL("https://localhost:\(room.nginx.port)/")
    #expect(await session.request(other).response().error == nil)
    let hosts = recorder.events.value.compactMap { if case .skipServerTrust(let host) = $0 { host } else { nil } }
    #expect(hosts == ["127.0.0.1", "localhost"])
  }

  @Test("a host without an evaluator is not even connected to")
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

  @Test("a name by its wildcard")
  func wildcard() async throws {
    let room = try await Room(try await TestCertificates(names: ["*.example.localhost"]))
    let evaluator = try CertificateAuthorityEvaluator(file: room.certificates.authority)
    let session = Session(serverTrustManager: ServerTrustManager(evaluators: ["*.example.localhost": evaluator]))
    let url = try RequestURL("https://www.example.localhost:\(room.nginx.port)/")
    #expect(await session.request(url).response().error == nil)
  }

  @Test("a connection is used again under its own policy, and under no other")
  func reuse() async throws {
    let room = try await Room()
    let authority = try Certificate.certificates(inFile: room.certificates.authority)
    let others = try await TestCertificates()
    let stranger = try Certificate.certificates(inFile: others.authority)
    let leaf = try room.leaf
    let wrong = PublicKeyPin(subjectPublicKeyInfo: Data("wrong".utf8))
    let believed: [TrustPolicy] = [
      .none, TrustPolicy(authorities: .certificates(authority)),
      TrustPolicy(authorities: .certificates(authority), publicKeys: [leaf.publicKeyPin]),
      TrustPolicy(authorities: .certificates(authority), certificates: [leaf]),
      TrustPolicy(authorities: .anybody, validatesHost: false, publicKeys: [leaf.publicKeyPin]),
      TrustPolicy(
        authorities: .certificates(authority),
        revocationListFile: try await room.certificates.revocationList(revoking: false)),
    ]
    let refused: [TrustPolicy] = [
      .system, TrustPolicy(authorities: .certificates(stranger)), TrustPolicy(validatesHost: false),
      TrustPolicy(authorities: .certificates(authority), publicKeys: [wrong]),
      TrustPolicy(authorities: .anybody, validatesHost: false, publicKeys: [wrong]),
      TrustPolicy(authorities: .certificates(authority), certificates: Set(stranger)),
      TrustPolicy(
        authorities: .certificates(authority),
        revocationListFile: try await room.certificates.revocationList(revoking: true)),
    ]
    let evaluator = Changing()
    let session = room.session(evaluator)
    for policy in believed {
      evaluator.policy.withLock { $0 = policy }
      let first = await session.request(room.url).response()
      let second = await session.request(room.url).response()
      #expect(first.error == nil && second.error == nil)
      #expect(first.metrics.last?.isConnectionReused == false, "a connection of another policy was used: \(policy)")
      #expect(second.metrics.last?.isConnectionReused == true)
    }
    for policy in refused {
      evaluator.policy.withLock { $0 = policy }
      #expect(await session.request(room.url).response().error != nil, "\(policy)")
    }
    // And the same with handles and sessions warm the other way round.
    for policy in believed {
      evaluator.policy.withLock { $0 = policy }
      #expect(await session.request(room.url).response().error == nil)
    }
  }

  @Test("a pinned certificate differs from another one with the same key, on a reused connection too")
  func sameKey() async throws {
    let room = try await Room()
    let renewed = try await room.certificates.renewed()
    let authority = try Certificate.certificates(inFile: room.certificates.authority)
    let other = try #require(try Certificate.certificates(inFile: renewed.certificate).first)
    let evaluator = Changing()
    let session = room.session(evaluator)
    let leaf = try room.leaf
    evaluator.policy.withLock {
      $0 = TrustPolicy(authorities: .certificates(authority), certificates: [leaf])
    }
    #expect(await session.request(room.url).response().error == nil)
    evaluator.policy.withLock { $0 = TrustPolicy(authorities: .certificates(authority), certificates: [other]) }
    guard case .serverTrust(.certificatePinningFailed)? = await session.request(room.url).response().error else {
      Issue.record("believed")
      return
    }
  }

  @Test("TLS below the floor is not spoken")
  func floor() async throws {
    let room = try await Room(directives: "ssl_protocols TLSv1.2;")
    var configuration = SessionConfiguration()
    configuration.certificateAuthorityFile = room.certificates.authority
    #expect(await Session(configuration: configuration).request(room.url).response().error == nil)
    configuration.minimumTLSVersion = .v1_3
    guard case .connection(.tls)? = await Session(configuration: configuration).request(room.url).response().error
    else {
      Issue.record("TLS 1.2 was spoken")
      return
    }
  }
}

/// Says something else each time.
private final class Changing: ServerTrustEvaluating {
  let policy = Mutex(TrustPolicy.system)
  func policy(forHost host: String) -> TrustPolicy { policy.withLock { $0 } }
}

private struct TrustOnly: ServerTrustEvaluating {
  let policy: TrustPolicy
  init(_ policy: TrustPolicy) { self.policy = policy }
  func policy(forHost host: String) -> TrustPolicy { policy }
}
