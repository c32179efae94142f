/// Options for S3. The target is `s3://bucket/key`, or an http(s) URL `https://host/bucket/key` (path style).
public struct S3Options: Sendable, Equatable {
  /// A server other than AWS: `https://host:port`. `nil`: the endpoint of the profile, of `AWS_ENDPOINT_URL_S3` or of
  /// `AWS_ENDPOINT_URL`, or else AWS.
  public var endpoint: String?
  /// `nil`: the region of the environment or of the profile, or else `us-east-1`.
  public var region: String?
  /// A profile of `~/.aws/credentials` and `~/.aws/config`. `nil`: the environment, then `AWS_PROFILE` or `default`.
  public var profile: String?
  /// A command that prints credentials like `credential_process` (JSON, version 1). It is split at blanks and run
  /// without a shell. It precedes all other sources.
  public var credentialCommand: [String]?
  /// How a URL names the bucket.
  public var addressing: Addressing
  /// Bytes of one part; `nil`: 8 MiB, or more if 10,000 parts would not be enough.
  public var partSize: Int64?
  /// Parts that are sent at the same time.
  public var parallelParts: Int

  /// How a URL names the bucket.
  public enum Addressing: String, Sendable, Codable {
    /// Path style for a custom endpoint and for names that cannot be host names, otherwise virtual-host style.
    case automatic
    /// `https://host/bucket/key`
    case path
    /// `https://bucket.host/key`
    case virtualHost
  }

  /// Options for S3; sizes are bytes.
  public init(
    endpoint: String? = nil, region: String? = nil, profile: String? = nil, credentialCommand: [String]? = nil,
    addressing: Addressing = .automatic, partSize: Int64? = nil, parallelParts: Int = 4
  ) {
    self.endpoint = endpoint
    self.region = region
    self.profile = profile
    self.credentialCommand = credentialCommand
    self.addressing = addressing
    self.partSize = partSize
    self.parallelParts = parallelParts
  }
}
