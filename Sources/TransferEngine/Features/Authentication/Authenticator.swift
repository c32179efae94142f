/// Applies, refreshes and checks one kind of credential. It has no state; `AuthenticationInterceptor` keeps the credential.
public protocol Authenticator<Credential>: Sendable {
  /// What is applied to requests, for example a token with its expiry.
  associatedtype Credential: AuthenticationCredential

  /// Puts the credential on the request.
  func apply(_ credential: Credential, to request: inout TransferRequest)

  /// Gets a new credential for an old one. At most one call runs at a time; its result serves all waiting requests.
  /// Requests that this method makes are sent without a credential and do not wait.
  /// - Throws: anything; the waiting requests fail with it.
  func refresh(_ credential: Credential, for session: Session) async throws -> Credential

  /// Whether the request failed because the server did not accept the credential; usually `response.status == 401`.
  /// Return false when the user lacks the permission: another credential of the same user would not help.
  func didRequest(
    _ request: TransferRequest, with response: ResponseHead, failDueToAuthenticationError error: TransferError
  ) -> Bool

  /// Whether the request carries this credential. If not, the credential was refreshed while the request was running, and
  /// the request is retried with the new one. Called once for each failed attempt.
  func isRequest(_ request: TransferRequest, authenticatedWith credential: Credential) -> Bool
}
