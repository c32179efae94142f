import Glibc

/// What others may do with part files that no request holds.
public enum PartialFiles {
  /// Removes a part file, and what the making of one may have left. A missing one is fine: that is what was wanted.
  /// - Parameter rules: nothing is removed from a directory that they refuse.
  public static func remove(_ name: String, in directory: String, rules: PathRules = .none) {
    guard let directory = try? Directory.open(directory, rules: rules) else { return }
    directory.remove(name)
    directory.remove(name + ".new")
  }

  /// Which file stands under a path; `nil` for none, and for anything but a regular file. A symbolic link at its end is not
  /// followed.
  /// - Parameter rules: a file in a directory that they refuse counts as none.
  public static func identity(ofFileAt path: String, rules: PathRules = .none) -> FileIdentity? {
    guard let directory = try? Directory.open(path.parentPath, rules: rules) else { return nil }
    return directory.regularFile(PathRules.lastName(path))?.identity
  }

  /// How many bytes a download with this resume data would go on from now; `nil` where its part file is gone or another.
  public static func usableBytes(_ data: ResumeData, rules: PathRules = .none) -> Int64? {
    guard let directory = try? Directory.open(data.partialFile.directory, rules: rules),
      let part = PartialFile.open(in: directory, name: data.partialFile.name, expecting: data.partialFile.identity)
    else { return nil }
    return data.usableBytes(ofFileWith: part.size)
  }

  /// Resume data for a verified file that has its final name already, though nobody knows whether the name is on the disk:
  /// a download with it only brings it there. `nil` where no regular file stands under the path.
  /// - Parameters:
  ///   - path: the file's absolute path.
  ///   - name: of its part file.
  ///   - url: the URL that is downloaded.
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
