/// How a request proves to an HTTP origin who it is from. It belongs to the origin of the request's URL: a redirect to
/// another scheme, host or port leaves it behind.
public enum HTTPCredential: Hashable, Sendable {
  /// RFC 7617: sent at once, readable by whoever sees the request.
  case basic(Credentials)
  /// RFC 7616: the first answer is a challenge; the password never goes over the wire.
  case digest(Credentials)
  /// What the server asks for, digest before basic. Nothing is sent before it asks: a body goes out twice.
  case negotiateAny(Credentials)
  /// RFC 6750: `Authorization: Bearer …`.
  case bearer(token: String)

  /// A name and a password, sent with the first request (RFC 7617).
  public static func basic(username: String, password: String) -> HTTPCredential {
    .basic(Credentials(username: username, password: password))
  }

  /// A name and a password, of which a hash is sent once the server asked (RFC 7616).
  public static func digest(username: String, password: String) -> HTTPCredential {
    .digest(Credentials(username: username, password: password))
  }

  /// The safest way of those that the server offers; it is asked first.
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

  /// Whether the server is asked first how to go about it.
  var awaitsChallenge: Bool {
    switch self {
    case .digest, .negotiateAny: true
    case .basic, .bearer: false
    }
  }
}

extension HTTPCredential: CustomStringConvertible {
  /// Never the password or token.
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
  /// Keeps secrets out of `dump` and of what test libraries print.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
