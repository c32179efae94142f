import WireValues

/// Operations on part files that no request is using.
public enum PartialFiles {
  /// Removes a part file, and what an interrupted creation may have left. A missing file is no error.
  /// - Parameter rules: nothing is removed from a directory that they refuse.
  public static func remove(_ name: String, in directory: String, rules: PathRules = .none) {
    guard let directory = try? Directory.open(directory, rules: rules) else { return }
    directory.removeAll(ofPart: name)
  }

  /// Identifies the file at a path; `nil` for none, and for anything but a regular file. Does not follow a symbolic
  /// link at its end.
  /// - Parameter rules: a file in a directory that they refuse counts as none.
  public static func identity(ofFileAt path: String, rules: PathRules = .none) -> FileIdentity? {
    guard let directory = try? Directory.open(path.parentPath, rules: rules) else { return nil }
    return directory.regularFile(String(path.baseName))?.identity
  }

  /// Identifies the version of the regular file at a path, if it is this file; `nil` for all others.
  /// - Parameter rules: a file in a directory that they refuse counts as none.
  public static func version(
    ofFileAt path: String, expecting identity: FileIdentity, rules: PathRules = .none
  ) -> SourceIdentity? {
    guard let directory = try? Directory.open(path.parentPath, rules: rules),
      let version = directory.version(of: String(path.baseName)),
      version.device == identity.device, version.inode == identity.inode
    else { return nil }
    return version
  }

  /// The path of a file that was renamed to a path, or to the first of its numbered names that was free; `nil` if none of
  /// these is the file.
  /// - Parameter rules: a file in a directory that they refuse counts as none.
  public static func path(of identity: FileIdentity, named path: String, rules: PathRules = .none) -> String? {
    guard let directory = try? Directory.open(path.parentPath, rules: rules) else { return nil }
    for name in NumberedNames(String(path.baseName)) {
      // Most of the names do not exist: look at them before one is opened.
      guard case .file(let stamp)? = directory.entry(name), stamp.inode == identity.inode,
        directory.regularFile(name)?.identity.withoutBirth == identity
      else { continue }
      return directory.path(of: name)
    }
    return nil
  }

  /// How many bytes a download with this resume data would not fetch again now; `nil` if its part file is missing or
  /// another file.
  public static func usableBytes(_ data: ResumeData, rules: PathRules = .none) -> Int64? {
    guard let directory = try? Directory.open(data.partialFile.directory, rules: rules),
      let part = PartialFile.open(in: directory, name: data.partialFile.name, expecting: data.partialFile.identity)
    else { return nil }
    if data.segments != nil { return data.usableRanges(ofFileWith: part.size, in: directory)?.count }
    return data.usableBytes(ofFileWith: part.size)
  }

  /// Resume data for a verified file that already has its final name, which may not be durable: a download with it only
  /// makes the name durable. `nil` if there is no regular file at the path.
  /// - Parameters:
  ///   - path: the file's absolute path.
  ///   - name: the part file's name.
  ///   - url: the URL of the download.
  ///   - rules: a file in a directory that they refuse counts as none.
  public static func resumeData(
    ofNamedFile path: String, partialName name: String, url: String, rules: PathRules = .none
  ) -> ResumeData? {
    guard let destination = try? DownloadDestination(path: path),
      let directory = try? Directory.open(destination.directory, rules: rules),
      let (identity, size) = directory.regularFile(destination.name)
    else { return nil }
    var data = ResumeData(
      url: url, validators: Validators(), totalBytes: size,
      partialFile: .init(
        directory: destination.directory, name: name, identity: identity, finalName: destination.name),
      checkpointBytes: size, bootID: BootID.current)
    data.isVerified = true
    return data
  }

  /// Makes the names in a directory durable. Blocks.
  public static func synchronizeDirectory(_ path: String, rules: PathRules = .none) throws(TransferError) {
    try Directory.open(path, rules: rules).synchronize()
  }
}

extension Directory {
  /// Removes a part file and the map of its pieces.
  func removePart(_ name: String) {
    remove(name)
    remove(PieceMap.name(of: name))
  }

  /// Removes a part file, the map of its pieces, and what an interrupted creation may have left.
  func removeAll(ofPart name: String) {
    removePart(name)
    remove(name + ".new")
  }
}
