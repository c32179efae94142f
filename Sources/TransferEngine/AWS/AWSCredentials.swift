public import FoundationEssentials

/// An access key of AWS, or of a server that speaks S3. Neither the secret nor the token is in any description.
public struct AWSCredentials: Sendable, Hashable {
  /// The public half of the key: `AKIA…` for a user's, `ASIA…` for a temporary one.
  public var accessKeyID: String
  /// The secret half; it signs and is never sent, logged or described.
  public var secretAccessKey: String
  /// Of temporary credentials.
  public var sessionToken: String?
  /// When temporary credentials end; `nil`: not known, or never.
  public var expiration: Date?

  /// Credentials as AWS gives them out. A temporary pair needs its session token.
  public init(accessKeyID: String, secretAccessKey: String, sessionToken: String? = nil, expiration: Date? = nil) {
    self.accessKeyID = accessKeyID
    self.secretAccessKey = secretAccessKey
    self.sessionToken = sessionToken
    self.expiration = expiration
  }
}

extension AWSCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "AWSCredentials(\(accessKeyID), ***)" }
  public var debugDescription: String { description }
  /// For `dump` and test frameworks, which look into values.
  public var customMirror: Mirror { Mirror(self, children: ["accessKeyID": accessKeyID, "secretAccessKey": "***"]) }
}
