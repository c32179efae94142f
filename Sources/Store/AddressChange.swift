public import TransferAPI

/// Another URL of the same file, checked by the daemon.
public struct AddressChange: Equatable, Sendable {
  /// Without userinfo. An upload's may be a name in a collection; that of every other job is a URL and no more.
  public var target: UploadTarget
  public var origin: String
  /// Replaces the stored credentials; `nil` removes them.
  public var credentials: JobSpec.Credentials?
  /// An upload: the new URL is another place, so the bytes at the old one do not count and are to be deleted there.
  public var isElsewhere: Bool

  public init(
    target: UploadTarget, origin: String, credentials: JobSpec.Credentials? = nil, isElsewhere: Bool = false
  ) {
    self.target = target
    self.origin = origin
    self.credentials = credentials
    self.isElsewhere = isElsewhere
  }

  /// A URL and no more.
  public init(url: String, origin: String, credentials: JobSpec.Credentials? = nil, isElsewhere: Bool = false) {
    self.init(
      target: UploadTarget(url: url), origin: origin, credentials: credentials, isElsewhere: isElsewhere)
  }

  public var url: String { target.url }
}
