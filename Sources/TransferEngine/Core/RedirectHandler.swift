/// Decides about redirects. `RedirectRule` decides first: a handler cannot allow what it refuses.
public protocol RedirectHandler: Sendable {
  /// - Parameters:
  ///   - request: the request that would follow; credentials of another origin are already removed.
  ///   - previous: the request that was redirected.
  ///   - response: the redirect's head.
  func redirect(
    _ request: TransferRequest, from previous: TransferRequest, response: ResponseHead
  ) async -> RedirectAction
}

extension RedirectHandler where Self == Redirector {
  /// Follows redirects, the default of sessions.
  public static var follow: Redirector { Redirector(behavior: .follow) }
  /// Does not follow redirects: the redirect is the response.
  public static var doNotFollow: Redirector { Redirector(behavior: .doNotFollow) }
  /// - Parameter closure: returns the request to send, or `nil` not to follow.
  public static func modify(
    using closure: @escaping @Sendable (TransferRequest, ResponseHead) -> TransferRequest?
  ) -> Redirector {
    Redirector(behavior: .modify(closure))
  }
}
