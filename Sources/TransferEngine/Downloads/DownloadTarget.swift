import FoundationEssentials

/// The directory and the name of the file. The name was checked to be free, unless it may be replaced.
struct DownloadTarget: Sendable {
  let directory: Directory
  let name: String
  let options: DownloadOptions
  let replacement: Replacement
  /// Directories in which subdirectories were created, not yet synced.
  private(set) var parents: [Directory] = []

  init(
    directory: Directory, name: String, options: DownloadOptions, _ replacement: Replacement
  ) throws(TransferError) {
    if replacement == .never, directory.contains(name) {
      throw .file(.destinationExists(directory.path + "/" + name))
    }
    self.directory = directory
    self.name = name
    self.options = options
    self.replacement = replacement
  }

  /// The destination that the user's closure chose.
  init(
    _ choice: (destinationURL: URL, options: DownloadOptions), _ rules: PathRules
  ) throws(TransferError) {
    guard choice.destinationURL.isFileURL else {
      throw .file(.invalidName(choice.destinationURL.scheme ?? "", reason: "it is not a file URL"))
    }
    let destination = try DownloadDestination(path: choice.destinationURL.path)
    var parents: [Directory] = []
    let directory =
      choice.options.contains(.createIntermediateDirectories)
      ? try Directory.open(destination.directory, rules: rules) { parents.append($0) }
      : try Directory.open(destination.directory, rules: rules)
    try self.init(
      directory: directory, name: destination.name, options: choice.options,
      choice.options.contains(.removePreviousFile) ? .always : .never)
    self.parents = parents
  }

  /// Syncs the directories that were created on the path. Blocks.
  func synchronizeParents() throws(TransferError) {
    for parent in parents { try parent.synchronize() }
  }
}
