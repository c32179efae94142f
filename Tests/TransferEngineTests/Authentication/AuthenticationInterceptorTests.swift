import Foundation
import Synchronization
import TestSupport
import Testing

@testable import TransferEngine

private struct Token: AuthenticationCredential, Equatable {
  var value: Int
  var requiresRefresh = false
}

/// Increases the token with each refresh, or throws `failure`.
private final class TokenAuthenticator: Authenticator {
  let refreshes = Mutex(0)
  let started = Gate()
  let mayFinish = Gate()
  let failure: (any Error)?
  let server: LoopbackServer?

  init(failing: (any Error)? = nil, asking server: LoopbackServer? = nil, isSlow: Bool = false) {
    failure = failing
    self.server = server
    if !isSlow { mayFinish.open() }
  }

  func apply(_ credential: Token, to request: inout TransferRequest) {
    request.headers[.authorization] = "Bearer \(credential.value)"
  }

  func refresh(_ credential: Token, for session: Session) async throws -> Token {
    refreshes.withLock { $0 += 1 }
    started.open()
    try await mayFinish.wait()
    if let failure { throw failure }
    if let server { _ = await session.request(try RequestURL(server.url("/refresh"))).response() }
    return Token(value: credential.value + 1)
  }

  func didRequest(
    _ request: TransferRequest, with response: ResponseHead, failDueToAuthenticationError error: TransferError
  ) -> Bool { response.status == 401 }

  func isRequest(_ request: TransferRequest, authenticatedWith credential: Token) -> Bool {
    request.headers[.authorization] == "Bearer \(credential.value)"
  }
}

@Suite(.timeLimit(.minutes(5))) struct AuthenticationInterceptorTests {
  /// Accepts this token and all later ones.
  private static func server(from token: Int) throws -> LoopbackServer {
    try LoopbackServer { request in
      if request.path == "/refresh" { return .response(200) }
      let sent = request.headers["Authorization"].flatMap { Int($0.dropFirst("Bearer ".count)) } ?? 0
      return .response(sent >= token ? 200 : 401, text: "\(sent)")
    }
  }

  private static func get(_ session: Session, _ server: LoopbackServer) async throws -> (String, TransferError?) {
    let response = await session.request(try RequestURL(server.url("/"))).validate().response()
    return (response.text, response.error)
  }

  @Test("a valid credential is applied to requests; a missing one is an error before anything is sent")
  func plain() async throws {
    let server = try Self.server(from: 1)
    let interceptor = AuthenticationInterceptor(authenticator: TokenAuthenticator(), credential: Token(value: 1))
    let session = Session(interceptor: interceptor)
    #expect(try await Self.get(session, server).0 == "1")
    interceptor.credential = nil
    let (_, error) = try await Self.get(session, server)
    guard case .hook(.adapter, AuthenticationError.missingCredential)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(server.requests.count == 1)
  }

  @Test("an expired credential is refreshed before the request, a rejected credential after the 401")
  func renewing() async throws {
    for (isExpired, requests) in [(true, ["Bearer 2"]), (false, ["Bearer 1", "Bearer 2"])] {
      let server = try Self.server(from: 2)
      let authenticator = TokenAuthenticator()
      let interceptor = AuthenticationInterceptor(
        authenticator: authenticator, credential: Token(value: 1, requiresRefresh: isExpired))
      let (text, error) = try await Self.get(Session(interceptor: interceptor), server)
      #expect(error == nil)
      #expect(text == "2")
      #expect(server.requests.map { $0.headers["Authorization"] } == requests)
      #expect(authenticator.refreshes.withLock { $0 } == 1)
      #expect(interceptor.credential == Token(value: 2))
    }
  }

  @Test("20 waiting requests share one refresh", arguments: [true, false])
  func coalescing(_ isExpired: Bool) async throws {
    let server = try Self.server(from: 2)
    let authenticator = TokenAuthenticator(isSlow: true)
    let interceptor = AuthenticationInterceptor(
      authenticator: authenticator, credential: Token(value: 1, requiresRefresh: isExpired))
    let session = Session(interceptor: interceptor)
    try await withThrowingTaskGroup(of: (String, TransferError?).self) { group in
      for _ in 0..<20 { group.addTask { try await Self.get(session, server) } }
      try await authenticator.started.wait()
      if !isExpired { try await server.waitForRequests(1) }
      authenticator.mayFinish.open()
      for try await (text, error) in group {
        #expect(error == nil)
        #expect(text == "2")
      }
    }
    #expect(authenticator.refreshes.withLock { $0 } == 1)
  }

  @Test("a failed refresh fails its request, and the next request starts another refresh")
  func failing() async throws {
    struct Refused: Error {}
    let server = try Self.server(from: 2)
    let authenticator = TokenAuthenticator(failing: Refused())
    let interceptor = AuthenticationInterceptor(authenticator: authenticator, credential: Token(value: 1))
    let session = Session(interceptor: interceptor)
    for _ in 0..<2 {
      let (_, error) = try await Self.get(session, server)
      guard case .hook(.retrier, is Refused)? = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
    }
    #expect(authenticator.refreshes.withLock { $0 } == 2)
    #expect(interceptor.credential == Token(value: 1))
  }

  @Test("tokens that are never accepted are not refreshed forever")
  func excessive() async throws {
    let server = try Self.server(from: 1000)
    let authenticator = TokenAuthenticator()
    let interceptor = AuthenticationInterceptor(
      authenticator: authenticator, credential: Token(value: 1), refreshWindow: .init(maximumAttempts: 3))
    let (_, error) = try await Self.get(Session(interceptor: interceptor), server)
    guard case .hook(.retrier, AuthenticationError.excessiveRefresh)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(authenticator.refreshes.withLock { $0 } == 3)
    #expect(server.requests.count == 4)
  }

  @Test("a refresh may use the session whose requests wait for it")
  func sameSession() async throws {
    let server = try Self.server(from: 2)
    let authenticator = TokenAuthenticator(asking: server)
    let interceptor = AuthenticationInterceptor(
      authenticator: authenticator, credential: Token(value: 1, requiresRefresh: true))
    let (text, error) = try await Self.get(Session(interceptor: interceptor), server)
    #expect(error == nil)
    #expect(text == "2")
    #expect(server.requests.map(\.path) == ["/refresh", "/"])
    #expect(server.requests[0].headers["Authorization"] == nil)
  }

  @Test("a 401 from another origin after a redirect starts no refresh")
  func redirected() async throws {
    let target = try LoopbackServer { _ in .response(401) }
    let server = try LoopbackServer { _ in .redirect(to: target.url("/")) }
    let authenticator = TokenAuthenticator()
    let interceptor = AuthenticationInterceptor(authenticator: authenticator, credential: Token(value: 1))
    let (_, error) = try await Self.get(Session(interceptor: interceptor), server)
    #expect(error?.status == 401)
    #expect(authenticator.refreshes.withLock { $0 } == 0)
    #expect(target.requests.count == 1)
    #expect(target.requests[0].headers["Authorization"] == nil)
  }

  /// Its first `stale` refreshes return a credential that requires another refresh. `isRequest` reads the interceptor's
  /// credential.
  private final class StubbornAuthenticator: Authenticator {
    let refreshes = Mutex(0)
    let questions = Mutex(0)
    let stale: Int
    nonisolated(unsafe) weak var interceptor: AuthenticationInterceptor<StubbornAuthenticator>?

    init(stale: Int) { self.stale = stale }

    func apply(_ credential: Token, to request: inout TransferRequest) {
      request.headers[.authorization] = "Bearer \(credential.value)"
    }

    func refresh(_ credential: Token, for session: Session) async throws -> Token {
      let count = refreshes.withLock { count in
        count += 1
        return count
      }
      return Token(value: credential.value + 1, requiresRefresh: count <= stale)
    }

    func didRequest(
      _ request: TransferRequest, with response: ResponseHead, failDueToAuthenticationError error: TransferError
    ) -> Bool { response.status == 401 }

    func isRequest(_ request: TransferRequest, authenticatedWith credential: Token) -> Bool {
      questions.withLock { $0 += 1 }
      // This would deadlock if the interceptor held its lock during the call.
      return request.headers[.authorization] == "Bearer \(interceptor?.credential?.value ?? 0)"
    }
  }

  @Test("a refreshed credential that requires another refresh is not sent")
  func staleRefresh() async throws {
    let server = try Self.server(from: 1)
    let authenticator = StubbornAuthenticator(stale: 2)
    let interceptor = AuthenticationInterceptor(
      authenticator: authenticator, credential: Token(value: 1, requiresRefresh: true))
    #expect(try await Self.get(Session(interceptor: interceptor), server).0 == "4")
    #expect(server.requests.map { $0.headers["Authorization"] } == ["Bearer 4"])
    #expect(authenticator.refreshes.withLock { $0 } == 3)
  }

  @Test(
    "a credential that always requires a refresh ends in an error, with a window or without", arguments: [true, false])
  func alwaysStale(_ hasWindow: Bool) async throws {
    let server = try Self.server(from: 1)
    let authenticator = StubbornAuthenticator(stale: .max)
    let interceptor = AuthenticationInterceptor(
      authenticator: authenticator, credential: Token(value: 1, requiresRefresh: true),
      refreshWindow: hasWindow ? .init() : nil)
    let (_, error) = try await Self.get(Session(interceptor: interceptor), server)
    guard case .hook(.adapter, AuthenticationError.excessiveRefresh)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(server.requests.isEmpty)
  }

  @Test("an authenticator is called once for each 401, and can read the interceptor's credential")
  func noLock() async throws {
    let server = try Self.server(from: 2)
    let authenticator = StubbornAuthenticator(stale: 0)
    let interceptor = AuthenticationInterceptor(authenticator: authenticator, credential: Token(value: 1))
    authenticator.interceptor = interceptor
    #expect(try await Self.get(Session(interceptor: interceptor), server).0 == "2")
    #expect(authenticator.questions.withLock { $0 } == 1)
    #expect(authenticator.refreshes.withLock { $0 } == 1)
  }

  @Test("other failures start no refresh")
  func others() async throws {
    let server = try LoopbackServer { _ in .response(503) }
    let authenticator = TokenAuthenticator()
    let interceptor = AuthenticationInterceptor(authenticator: authenticator, credential: Token(value: 1))
    let (_, error) = try await Self.get(Session(interceptor: interceptor), server)
    #expect(error?.status == 503)
    #expect(server.requests.count == 1)
  }
}
