/// The decision of a redirect handler.
public enum RedirectAction: Sendable {
  /// Follow the redirect by the rules. An upload that would lose its body fails instead.
  case follow
  /// Do not follow: the redirect is the response.
  case doNotFollow
  /// Send this request instead. The handler is responsible for its credentials.
  case modify(TransferRequest)
}
