/// Which identity is presented to which origin. Other origins never get it, not even after a redirect.
public struct ClientIdentities: Hashable, Sendable {
  private var byOrigin: [String: ClientIdentity] = [:]

  /// No identities.
  public init() {}

  /// The identity for the URL's scheme, host and port.
  public subscript(url: RequestURL) -> ClientIdentity? {
    get { byOrigin[url.origin] }
    set { byOrigin[url.origin] = newValue }
  }
}
