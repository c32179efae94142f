/// Which URLs from servers are followed: `Location` in redirects, of created uploads and of resumable ones.
public enum RedirectPolicy: String, Sendable, Hashable, CaseIterable {
  /// Only URLs of the origin that sent them.
  case sameOrigin = "same-origin"
  /// Only URLs whose host has a public address (`IPAddress.isPublic`). Checked for the address that is connected to,
  /// not only when the name is resolved.
  case `public`
  /// All URLs that `RedirectRule` allows.
  case any
}
