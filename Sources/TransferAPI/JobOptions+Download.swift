extension JobOptions {
  /// Options that only downloads have.
  public struct Download: Equatable, Sendable {
    /// Take the file's name from the response's Content-Disposition (`-J`). Only with a directory as the destination.
    public var nameFromResponse = false
    /// Create the missing directories of the destination.
    public var createDirectories = false
    /// Replace a file that exists, once the new one is complete: `ifExists` with `replace`.
    public var replace = false
    /// What happens if the file exists; `nil`: `fail`, or `replace` with the option of that name.
    public var ifExists: IfExists?
    /// Fetch the file only if it has changed on the server since it was fetched, and never replace a file that has changed here.
    public var ifChanged = false
    /// The digest that the file must have: `ALG=HEX`.
    public var checksum: String?

    /// Permission bits of the file in octal, at most `0777`; `nil`: those of the replaced file, else what the umask leaves.
    public var mode: String?
    /// Give the file the modification time that the server reports.
    public var remoteTime = false
    /// The most bytes that the file may have, 1 or more; `nil`: no limit.
    public var maxSize: Int64?
    /// An existing directory for the part file, an absolute path; `nil`: beside the destination.
    public var partDir: String?
    /// How many connections fetch the file.
    public var segments = SegmentCount.automatic

    /// Further sources of the same file: http or https URLs, the preferred ones first.
    public var mirrors: [String] = []
    /// The bytes that the file must have; `nil`: unknown.
    public var size: Int64?
    /// Digests of the file's pieces; a piece that is wrong is fetched again.
    public var pieces: FilePieces?
    /// Where another URL of the file is asked for when the server refuses the job's own: with 401, 403, 404 or 410.
    public var urlFrom: SecretReference?

    public init() {}

    mutating func visit(_ visitor: inout some OptionVisitor) throws {
      try visitor.option("nameFromResponse", &nameFromResponse, default: false)
      try visitor.option("createDirectories", &createDirectories, default: false)
      try visitor.option("replace", &replace, default: false)
      try visitor.word("ifExists", &ifExists, default: nil)
      try visitor.option("ifChanged", &ifChanged, default: false)
      try visitor.option("checksum", &checksum, default: nil)
      try visitor.option("mode", &mode, default: nil)
      try visitor.option("remoteTime", &remoteTime, default: false)
      try visitor.size("maxSize", &maxSize)
      try visitor.option("partDir", &partDir, default: nil)
      try visitor.option("segments", &segments, default: .automatic)
      try visitor.urls("mirrors", &mirrors)
      try visitor.option("size", &size, default: nil)
      try visitor.option("pieces", &pieces, default: nil)
      try visitor.option("urlFrom", &urlFrom, default: nil)
    }

    /// - Parameter scheme: of the job's URL; `nil`: unknown.
    /// - Throws: `WireError` if `urlFrom` cannot give a URL, or is never asked.
    func checkFreshURL(scheme: String?) throws(WireError) {
      guard let urlFrom else { return }
      if !mirrors.isEmpty {
        throw WireError(
          text:
            "\(field: "urlFrom") and \(field: "mirrors") exclude each other: a mirror takes the place of a URL that fails"
        )
      }
      if urlFrom == .netrc {
        throw WireError(text: "\(field: "urlFrom") is env:NAME, file:PATH or exec:COMMAND; netrc holds no URLs")
      }
      if let scheme, !["http", "https"].contains(scheme) {
        throw WireError(
          text:
            "\(field: "urlFrom") is for http and https: \(scheme) has no statuses that say that a URL has expired")
      }
    }

    /// The value of `mode`; `nil` if there is none.
    /// - Throws: `WireError` unless it is an octal number from 0 to 0777.
    public func permissions() throws(WireError) -> UInt16? {
      guard let mode else { return nil }
      guard (1...4).contains(mode.utf8.count), mode.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "7") ~= $0 }),
        let bits = UInt16(mode, radix: 8), bits <= 0o777
      else { throw WireError(text: "\(field: "mode") must be an octal number of at most 0777, like 0644") }
      return bits
    }

    /// The value of `checksum`; `nil` if there is none.
    /// - Throws: `WireError` for one that cannot be read.
    public func digest() throws(WireError) -> Checksum? {
      guard let checksum else { return nil }
      do throws(WireError) {
        return try Checksum(parsing: checksum)
      } catch {
        throw error.about("checksum")
      }
    }
  }
}
