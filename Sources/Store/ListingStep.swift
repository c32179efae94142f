public import TransferAPI

/// A directory that a listing has still to read, or one of its pages.
public struct ListingDirectory: Equatable, Sendable {
  public var id: Int64
  /// Below the listing's own directory, which has the empty path.
  public var path: String
  /// Where the list of a bucket goes on; `nil`: at its beginning.
  public var page: String?

  /// 0 for the listing's own directory.
  public var depth: Int {
    // checked: a path has at most 4,000 bytes
    path.isEmpty ? 0 : path.utf8.count { $0 == UInt8(ascii: "/") } + 1
  }
}

/// What a listing has read: a part of a directory, or its end.
public struct ListingStep: Sendable {
  public var job: JobID
  /// Of the claim under which the listing runs.
  public var fence: Int64
  public var directory: Int64
  /// The files, as downloads with `JobSpec.listing`.
  public var files: [JobSpec] = []
  /// Paths of further directories.
  public var directories: [String] = []
  /// `nil`: the directory goes on.
  public var end: End?

  /// The end of a directory or of one of its pages.
  public struct End: Equatable, Sendable {
    /// The next page; `nil`: the directory is done.
    public var page: String?
    /// Entries of this page that were wanted, and those that were refused.
    public var files: Int
    public var refused: Int

    public init(page: String?, files: Int, refused: Int) {
      (self.page, self.files, self.refused) = (page, files, refused)
    }
  }

  public init(job: JobID, fence: Int64, directory: Int64) {
    (self.job, self.fence, self.directory) = (job, fence, directory)
  }
}

/// What a listing has found so far.
public struct ListingSums: Equatable, Sendable {
  public var directories = 0
  public var files = 0
  public var refused = 0
  public init() {}
}
