import WireValues

extension JobOptions {
  /// Options that only listings have: jobs that add a download for each file of a directory.
  public struct Listing: Equatable, Sendable {
    /// Makes a job a listing, for clients that give no `kind`.
    public var recursive = false
    /// Patterns of which a file has to match one; empty: every file is wanted (`PathGlob`).
    public var include: [String] = []
    /// Patterns of files and directories that are passed over.
    public var exclude: [String] = []
    /// How far below the directory, which has the depth 0; `nil`: to the end.
    public var maxDepth: Int?

    /// Directories below this depth are never entered.
    public static let deepest = 100
    /// Most patterns of each kind.
    static let maximumPatterns = 100

    public init() {}

    mutating func visit(_ visitor: inout some OptionVisitor) throws {
      try visitor.option("recursive", &recursive, default: false)
      try visitor.option("include", &include, default: [])
      try visitor.option("exclude", &exclude, default: [])
      try visitor.option("maxDepth", &maxDepth, default: nil)
    }

    /// The name of an option that differs from its default, besides `recursive` if there is another; `nil`: there is none.
    var firstGiven: String? {
      [
        ("include", !include.isEmpty), ("exclude", !exclude.isEmpty), ("maxDepth", maxDepth != nil),
        ("recursive", recursive),
      ].first { $0.1 }?.0
    }

    /// - Throws: `WireError` for a pattern that cannot be read.
    public func filter() throws(WireError) -> PathFilter {
      PathFilter(included: try Self.globs(include, "include"), excluded: try Self.globs(exclude, "exclude"))
    }

    private static func globs(_ texts: [String], _ name: String) throws(WireError) -> [PathGlob] {
      guard texts.count <= maximumPatterns else {
        throw WireError(text: "\(field: name) has more than \(maximumPatterns) patterns")
      }
      var globs: [PathGlob] = []
      for text in texts {
        do {
          globs.append(try PathGlob(text))
        } catch {
          throw WireError(text: "\(field: name): the pattern \(error)")
        }
      }
      return globs
    }

    /// - Throws: `WireError`.
    func check() throws(WireError) {
      _ = try filter()
      if let maxDepth, !(0...Self.deepest).contains(maxDepth) {
        throw WireError(text: "\(field: "maxDepth") must be from 0 to \(Self.deepest)")
      }
    }
  }

  /// The options of the downloads that a listing adds.
  public var ofListedFiles: JobOptions {
    var options = self
    options.listing = Listing()
    // Directories below the listing's own are made as they are needed.
    options.download.createDirectories = true
    options.download.nameFromResponse = false
    // The listing began when they had completed; they may be removed by now.
    options.schedule.after = []
    return options
  }
}

extension NewJob {
  /// Checks options that a job of this kind cannot have.
  /// - Throws: `WireError`.
  public func checkListing() throws(WireError) {
    guard kind == .listing else {
      if let name = options.listing.firstGiven {
        throw WireError(text: "\(field: name) is for listings; it needs \(field: "recursive")")
      }
      return
    }
    try options.listing.check()
    let download = options.download
    let useless = [
      ("destination", destination != nil), ("nameFromResponse", download.nameFromResponse),
      ("checksum", download.checksum != nil), ("urlFrom", download.urlFrom != nil),
      ("mirrors", !download.mirrors.isEmpty), ("size", download.size != nil),
      ("pieces", download.pieces != nil),
    ].first { $0.1 }
    if let useless { throw WireError(text: "\(field: useless.0) is for one file: a listing has a directory") }
  }
}
