/// Alamofire's `Redirector`: the same behaviour for all redirects.
public struct Redirector: RedirectHandler {
  /// What happens to a redirect.
  public enum Behavior: Sendable {
    /// Follow it (RFC 9110 §15.4).
    case follow
    /// Do not follow it: it is the response.
    case doNotFollow
    /// The closure decides, and may change the request.
    case modify(@Sendable (TransferRequest, ResponseHead) -> TransferRequest?)
  }

  /// What happens to every redirect.
  public let behavior: Behavior

  /// A handler with this behaviour.
  public init(behavior: Behavior) { self.behavior = behavior }

  public func redirect(
    _ request: TransferRequest, from previous: TransferRequest, response: ResponseHead
  ) async -> RedirectAction {
    switch behavior {
    case .follow: .follow
    case .doNotFollow: .doNotFollow
    case .modify(let change): change(request, response).map(RedirectAction.modify) ?? .doNotFollow
    }
  }
}
