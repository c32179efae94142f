public import FoundationEssentials

/// An access key of AWS, or of an S3-compatible server. Descriptions show neither the secret nor the token.
public struct AWSCredentials: Sendable, Hashable {
  /// The public part of the key: `AKIA…` for a user's key, `ASIA…` for a temporary one.
  public var accessKeyID: String
  /// The secret part. It signs, and is never sent, logged or described.
  public var secretAccessKey: String
  /// The token of temporary credentials.
  public var sessionToken: String?
  /// The expiry of temporary credentials; `nil` if it is unknown or there is none.
  public var expiration: Date?

  /// Credentials as AWS issues them. Temporary credentials need their session token.
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
  /// For `dump` and test frameworks, which reflect values.
  public var customMirror: Mirror { Mirror(self, children: ["accessKeyID": accessKeyID, "secretAccessKey": "***"]) }
}
