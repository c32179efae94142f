extension Request {
  /// Authenticates with basic or digest, as the server asks. Call it before the request starts. Credentials are sent
  /// only to the origin of the request's URL.
  @discardableResult public func authenticate(username: String, password: String) -> Self {
    authenticate(with: .negotiateAny(username: username, password: password))
  }

  /// Authenticates with this credential. Call it before the request starts; adapters may replace it.
  @discardableResult public func authenticate(with credential: HTTPCredential) -> Self {
    control.core.setCredential(credential)
    return self
  }
}
