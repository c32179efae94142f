/// What an `Authenticator` puts on requests, such as a token with its time of expiry.
public protocol AuthenticationCredential: Sendable {
  /// It is no use sending a request with this one.
  var requiresRefresh: Bool { get }
}

/// Knows how a kind of credential is applied, renewed, and found wanting. Stateless; `AuthenticationInterceptor` holds the
/// state.
public protocol Authenticator<Credential>: Sendable {
  /// What is applied to requests: a token with its expiry, say.
  associatedtype Credential: AuthenticationCredential

  /// Puts the credential on the request.
  func apply(_ credential: Credential, to request: inout TransferRequest)

  /// Gets a new credential for an old one. Called once at a time, for all requests that wait for it. Requests that it makes
  /// itself, with the same session or another, are not made to wait: they go out as they are.
  /// - Throws: anything; the requests that wait fail with it.
  func refresh(_ credential: Credential, for session: Session) async throws -> Credential

  /// Whether the request failed because the credential is no good (most often: `response.status == 401`). Where it is
  /// the credential's owner who may not, say false: another token of his would not help.
  func didRequest(
    _ request: TransferRequest, with response: ResponseHead, failDueToAuthenticationError error: TransferError
  ) -> Bool

  /// Whether the request carries this very credential. If it does not, the credential was renewed while the request was
  /// under way, and the request is tried again with the new one.
  func isRequest(_ request: TransferRequest, authenticatedWith credential: Credential) -> Bool
}

/// Why a request could not be authenticated; Alamofire's names.
public enum AuthenticationError: Error, Sendable, CustomStringConvertible {
  /// There is no credential to put on the request, or to renew.
  case missingCredential
  /// The credential was renewed too often within the window.
  case excessiveRefresh

  public var description: String {
    switch self {
    case .missingCredential: "there is no credential"
    case .excessiveRefresh: "the credential was renewed too often in a short time"
    }
  }
}
