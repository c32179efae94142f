import Glibc

/// What others may do with part files that no request holds.
public enum PartialFiles {
  /// Removes a part file, and what the making of one may have left. A missing one is fine: that is what was wanted.
  public static func remove(_ name: String, in directory: String) {
    guard let directory = try? Directory.open(directory, creating: false) else { return }
    directory.remove(name)
    directory.remove(name + ".new")
  }

  /// Which file stands under a path; `nil` for none, and for anything but a regular file. Symbolic links are not followed.
  public static func identity(ofFileAt path: String) -> FileIdentity? {
    let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return PartialFile.identity(of: descriptor)
  }

  /// How many bytes a download with this resume data would go on from now; `nil` where its part file is gone or another.
  public static func usableBytes(_ data: ResumeData) -> Int64? {
    guard let directory = try? Directory.open(data.partialFile.directory, creating: false),
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
  public static func resumeData(ofNamedFile path: String, partialName name: String, url: String) -> ResumeData? {
    guard let identity = identity(ofFileAt: path), let destination = try? DownloadDestination(path: path),
      let directory = try? Directory.open(destination.directory, creating: false),
      let size = directory.size(of: destination.name, expecting: identity)
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
  public static func synchronizeDirectory(_ path: String) throws(TransferError) {
    try Directory.open(path, creating: false).synchronize()
  }
}
