import FoundationEssentials
import HTTPTypes

/// What a download is to do, decided before its first attempt: a value.
struct DownloadPlan: Sendable {
  var request: TransferRequest
  /// Where it goes; with a `chooser`, only what is suggested to that.
  var destination: DownloadDestination
  var options: DownloadOptions
  /// Decides where it goes when the head is there.
  var chooser: DownloadRequest.Destination?
  /// The part file's name in the destination's directory.
  var partialName: String
  var expectedDigests: [ExpectedDigest]
  var journal: (any DownloadJournal)?
  /// Where the file may go; checked on the open directory at each attempt.
  var rules = PathRules.none

  /// Where the file goes, now that its head is there; `nil` for a protocol that has none.
  /// - Parameter directory: the destination's, or, where a chooser decides, that of the part file.
  /// - Throws: `.destinationExists` where the name is taken and may not be replaced.
  func target(for head: ResponseHead?, in directory: Directory?) throws(TransferError) -> DownloadTarget {
    let suggestion =
      chooser != nil || destination.isNamedByResponse
      ? head?.headers[.contentDisposition].flatMap(SafeFileName.init(contentDisposition:))?.string : nil
    let name = suggestion ?? destination.name
    if let chooser { return try DownloadTarget(chooser(name, head), rules) }
    guard let directory else { throw .file(.directoryMissing(destination.directory)) }
    return try DownloadTarget(directory: directory, name: name, options: options)
  }

  /// Whether an encoded body is to be decoded. Identity was asked for, so a server that encodes all the same means
  /// transport compression – unless the file itself is of that form, as `.tar.gz` served with `Content-Encoding: gzip`.
  /// `nil` for codings that are none, or that libcurl cannot undo: the bytes are kept as they come.
  func mustDecode(_ coding: String, _ head: ResponseHead) -> Bool? {
    let decodable = ["gzip", "x-gzip", "deflate", "br", "zstd"]
    guard decodable.contains(coding) else { return nil }
    let type = head.headers[.contentType]?.lowercased() ?? ""
    let path = request.url.path.lowercased()
    let isArchive =
      [".gz", ".tgz", ".br", ".zst"].contains { path.hasSuffix($0) }
      || ["application/gzip", "application/x-gzip", "application/x-tgz", "application/zstd"]
        .contains { type.hasPrefix($0) }
    return isArchive ? nil : true
  }
}

/// The directory and the name that a file gets, checked to be free where it has to be.
struct DownloadTarget: Sendable {
  let directory: Directory
  let name: String
  let options: DownloadOptions
  /// Directories in which directories were made on the way here, not yet synchronized.
  private(set) var parents: [Directory] = []

  init(directory: Directory, name: String, options: DownloadOptions) throws(TransferError) {
    if !options.contains(.removePreviousFile), directory.contains(name) {
      throw .file(.destinationExists(directory.path + "/" + name))
    }
    self.directory = directory
    self.name = name
    self.options = options
  }

  /// What a download's own closure chose.
  fileprivate init(
    _ choice: (destinationURL: URL, options: DownloadOptions), _ rules: PathRules
  ) throws(TransferError) {
    guard choice.destinationURL.isFileURL else {
      throw .file(.invalidName(choice.destinationURL.scheme ?? "", reason: "it is no file URL"))
    }
    let destination = try DownloadDestination(path: choice.destinationURL.path)
    var parents: [Directory] = []
    let directory =
      choice.options.contains(.createIntermediateDirectories)
      ? try Directory.open(destination.directory, rules: rules) { parents.append($0) }
      : try Directory.open(destination.directory, rules: rules)
    try self.init(directory: directory, name: destination.name, options: choice.options)
    self.parents = parents
  }

  /// What was made on the way is on the disk when this returns. Blocks.
  func synchronizeParents() throws(TransferError) {
    for parent in parents { try parent.synchronize() }
  }
}

/// Where a download goes.
public struct DownloadDestination: Sendable, Equatable {
  /// Absolute.
  public var directory: String
  /// One path component.
  public var name: String
  /// Take the name from Content-Disposition where the response has one; `name` is for when it has none.
  public var isNamedByResponse: Bool

  /// A name in a directory; with `isNamedByResponse` the name is what the response suggests, and this one where it
  /// suggests none.
  public init(directory: String, name: String, isNamedByResponse: Bool = false) {
    self.directory = directory
    self.name = name
    self.isNamedByResponse = isNamedByResponse
  }

  /// - Throws: `.invalidName` unless the path is absolute and ends in a usable name.
  public init(path: String) throws(TransferError) {
    guard path.hasPrefix("/"), let slash = path.lastIndex(of: "/") else {
      throw .file(.invalidName(path, reason: "the path is not absolute"))
    }
    let name = String(path[path.index(after: slash)...])
    try SafeFileName.check(name)
    let directory = String(path[..<slash])
    self.init(directory: directory.isEmpty ? "/" : directory, name: name)
  }
}

/// As in Alamofire; what they allow happens atomically, after validation.
public struct DownloadOptions: OptionSet, Sendable, Codable {
  public let rawValue: Int
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Directories on the way to the destination that do not exist are made.
  public static let createIntermediateDirectories = DownloadOptions(rawValue: 1 << 0)
  /// A file that stands under the destination's name is replaced, by one rename, when the new one is whole.
  public static let removePreviousFile = DownloadOptions(rawValue: 1 << 1)
}

/// Keeps a download's resume data durable while it runs. Called from Swift's threads, one call at a time.
public protocol DownloadJournal: Sendable {
  /// When it returns the data is durable. Called when a file worth resuming begins (no more than 1 MiB is taken before it
  /// returned), then every 2 s of progress or 64 MiB, after the bytes themselves were brought to the disk.
  func record(_ data: ResumeData) async throws
  /// All bytes are on the disk and verified. When it returns, a rename may be found undone or done after a crash:
  /// `data.partialFile.identity` tells.
  func willRename(_ data: ResumeData) async throws
}
