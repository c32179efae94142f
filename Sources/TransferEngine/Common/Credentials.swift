/// A user name and password for one origin.
public struct Credentials: Hashable, Sendable, CustomStringConvertible {
  /// The user name, not encoded.
  public var username: String
  /// The password, not encoded. No description shows it.
  public var password: String

  /// A name and a password. They are used as they are: nothing in them is encoded or special.
  public init(username: String, password: String) {
    self.username = username
    self.password = password
  }

  /// Without the password.
  public var description: String { "Credentials(\(username), ***)" }
}
