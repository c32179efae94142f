extension RequestURL {
  /// The same URL with this userinfo.
  public func with(_ credentials: Credentials?) -> RequestURL { RequestURL(self, credentials: credentials) }
}
