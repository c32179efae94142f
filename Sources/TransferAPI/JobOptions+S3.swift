extension JobOptions {
  /// Which S3 server has the object, and whose key is used. Downloads and uploads have these options.
  public struct S3: Equatable, Sendable {
    /// The http or https URL of an S3 server other than AWS.
    public var endpoint: String?
    /// A profile of `~/.aws`.
    public var profile: String?
    public var region: String?

    public init() {}

    mutating func visit(_ visitor: inout some OptionVisitor) throws {
      try visitor.url("endpoint", &endpoint)
      try visitor.option("profile", &profile, default: nil)
      try visitor.option("region", &region, default: nil)
    }

    /// Checks that none is given where the server is not one of S3.
    /// - Throws: `WireError` that names the first one.
    public func checkUnused() throws(WireError) {
      let given = [("endpoint", endpoint), ("profile", profile), ("region", region)].first { $0.1 != nil }
      guard let name = given?.0 else { return }
      throw WireError(
        text:
          "\(field: name) is for S3; name the object with s3://BUCKET/KEY, or give \(field: "protocol") s3 for an upload"
      )
    }
  }
}
