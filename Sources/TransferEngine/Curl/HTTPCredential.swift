/// How a request authenticates with an HTTP origin. It belongs to the origin of the request's URL: a redirect to
/// another scheme, host or port drops it.
public enum HTTPCredential: Hashable, Sendable {
  /// RFC 7617: sent at once, readable by anyone who sees the request.
  case basic(Credentials)
  /// RFC 7616: sent after a challenge; the password itself is never sent.
  case digest(Credentials)
  /// The method that the server asks for, digest before basic. Nothing is sent before that, so a body is sent twice.
  case negotiateAny(Credentials)
  /// RFC 6750: `Authorization: Bearer …`.
  case bearer(token: String)

  /// A name and a password, sent with the first request (RFC 7617).
  public static func basic(username: String, password: String) -> HTTPCredential {
    .basic(Credentials(username: username, password: password))
  }

  /// A name and a password, of which a hash is sent after a challenge (RFC 7616).
  public static func digest(username: String, password: String) -> HTTPCredential {
    .digest(Credentials(username: username, password: password))
  }

  /// The most secure method that the server offers, after a challenge.
  public static func negotiateAny(username: String, password: String) -> HTTPCredential {
    .negotiateAny(Credentials(username: username, password: password))
  }

  /// The user name and password; `nil` for a token.
  public var credentials: Credentials? {
    switch self {
    case .basic(let credentials), .digest(let credentials), .negotiateAny(let credentials): credentials
    case .bearer: nil
    }
  }

  /// Whether credentials are sent only after a challenge.
  var awaitsChallenge: Bool {
    switch self {
    case .digest, .negotiateAny: true
    case .basic, .bearer: false
    }
  }
}

extension HTTPCredential: CustomStringConvertible {
  /// Without the password and the token.
  public var description: String {
    switch self {
    case .basic(let credentials): "basic \(credentials)"
    case .digest(let credentials): "digest \(credentials)"
    case .negotiateAny(let credentials): "any \(credentials)"
    case .bearer: "bearer ***"
    }
  }
}

extension HTTPCredential: CustomReflectable {
  /// Keeps secrets out of `dump` and of the output of test libraries.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
