/// Another URL of the same file, checked by the daemon.
public struct AddressChange: Equatable, Sendable {
  /// Without userinfo.
  public var url: String
  public var origin: String
  /// Replaces the stored credentials; `nil` removes them.
  public var credentials: JobSpec.Credentials?
  /// An upload: the new URL is another place, so the bytes at the old one do not count and are to be deleted there.
  public var isElsewhere: Bool
  /// An upload: the collection of `url`; replaces the stored one.
  public var collection: String?

  public init(
    url: String, origin: String, credentials: JobSpec.Credentials? = nil, isElsewhere: Bool = false,
    collection: String? = nil
  ) {
    self.url = url
    self.origin = origin
    self.credentials = credentials
    self.isElsewhere = isElsewhere
    self.collection = collection
  }
}
