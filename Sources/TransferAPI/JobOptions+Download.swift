extension JobOptions {
  /// Options that only downloads have.
  public struct Download: Equatable, Sendable {
    /// Take the file's name from the response's Content-Disposition (`-J`). Only with a directory as the destination.
    public var nameFromResponse = false
    /// Create the missing directories of the destination.
    public var createDirectories = false
    /// Replace a file that exists, once the new one is complete.
    public var replace = false
    /// The digest that the file must have: `ALG=HEX`.
    public var checksum: String?

    public init() {}

    mutating func visit(_ visitor: inout some OptionVisitor) throws {
      try visitor.option("nameFromResponse", &nameFromResponse, default: false)
      try visitor.option("createDirectories", &createDirectories, default: false)
      try visitor.option("replace", &replace, default: false)
      try visitor.option("checksum", &checksum, default: nil)
    }
  }
}
