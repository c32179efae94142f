extension Request {
  /// Answers the server's question who the request is from, be it by basic or by digest. To be called before the request
  /// starts. Goes to the origin of the request's URL alone.
  @discardableResult public func authenticate(username: String, password: String) -> Self {
    authenticate(with: .negotiateAny(username: username, password: password))
  }

  /// Says who the request is from. To be called before the request starts; adapters may replace it.
  @discardableResult public func authenticate(with credential: HTTPCredential) -> Self {
    control.core.setCredential(credential)
    return self
  }
}
