import CLinux
import Glibc
import Store
import TransferAPI
import TransferEngine
import WireValues

/// Checks a new watched folder.
enum FolderCheck {
  /// The folder with paths in their usual form.
  /// - Throws: `Problem` for what is wrong without a look at the file system.
  static func normalized(_ request: NewFolder) throws(Problem) -> NewFolder {
    var folder = request
    folder.directory = String(try JobValidation.checked(request.directory, true).withoutTrailingSlash)
    guard !folder.hasSecrets else {
      throw Problem(
        .invalid,
        text:
          "a folder keeps no passwords, keys and tokens; name them with \(field: "credentials") or \(field: "secretHeaders") (env:, file:, exec:)"
      )
    }
    if folder.options.onSuccess != .keep, folder.settle == nil {
      throw Problem(
        .invalid,
        text:
          "\(field: "onSuccess") \(folder.options.onSuccess) needs \(field: "settle"): say how long a file must not change"
      )
    }
    if folder.options.schedule.deadline != nil || folder.options.schedule.notBefore != nil {
      throw Problem(
        .invalid, text: "\(field: "notBefore") and \(field: "deadline") are for single jobs, not for a folder")
    }
    try checkURLs(of: folder)
    guard case .move(let target) = folder.options.onSuccess else { return folder }
    let directory = String(try JobValidation.checked(target, true).withoutTrailingSlash)
    folder.options.onSuccess = .move(to: directory)
    let isBelow = directory.hasPrefix(folder.directory == "/" ? "/" : folder.directory + "/")
    if directory == folder.directory || folder.recursive && isBelow {
      throw isInFolder(directory)
    }
    return folder
  }

  /// Refuses a target at which each file would replace the one before it.
  private static func checkURLs(of folder: NewFolder) throws(Problem) {
    let target = try validated { try UploadTemplate(parsing: folder.to) }
    guard target.namesOneURL, folder.options.upload.replacesTarget else { return }
    throw Problem(
      .invalid,
      "the files of a folder would replace each other at one URL; end the target with a slash or put {name} into it")
  }

  /// Blocks.
  /// - Throws: `Problem` for directories that are missing or must not be used.
  static func check(_ folder: NewFolder, write: PathRules, read: PathRules) throws(Problem) {
    var directories = [folder.directory]
    if case .move(let target) = folder.options.onSuccess { directories.append(target) }
    do throws(TransferError) {
      // First, so that a caller cannot find out whether a forbidden path exists.
      for directory in directories { try write.checkDestination(directory) }
      try read.checkDestination(folder.directory)
    } catch {
      throw Problem(.permission, error.description)
    }
    for (index, directory) in directories.enumerated() {
      var status = stat()
      let code = index == 0 ? Problem.Code.sourceMissing : .destinationMissing
      guard stat(directory, &status) == 0 else {
        throw Problem(code, "there is no directory \(directory); create it first")
      }
      guard status.st_mode & S_IFMT == S_IFDIR else { throw Problem(code, "\(directory) is not a directory; name one") }
    }
    try checkTarget(directories, recursive: folder.recursive)
    let needed = folder.options.onSuccess == .keep ? R_OK | X_OK : R_OK | W_OK | X_OK
    guard access(folder.directory, needed) == 0 else {
      throw Problem(.permission, "cannot watch \(folder.directory): permission denied")
    }
  }

  /// Refuses a directory for moved files that is the folder or below it, whatever its path says.
  /// - Parameter directories: the folder, and the directory for moved files if there is one.
  private static func checkTarget(_ directories: [String], recursive: Bool) throws(Problem) {
    guard directories.count == 2, let folder = try? Directory.open(directories[0]),
      let target = try? Directory.open(directories[1])
    else { return }
    guard target.identity == folder.identity || recursive && isBelow(target.descriptor, folder.identity) else { return }
    throw isInFolder(directories[1])
  }

  /// Walks up from an open directory.
  private static func isBelow(_ descriptor: Int32, _ folder: DirectoryIdentity) -> Bool {
    var current = linux_openat(descriptor, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
    defer { if current >= 0 { close(current) } }
    var last: DirectoryIdentity?
    // No path has more components.
    for _ in 0..<4096 where current >= 0 {
      guard let here = DirectoryIdentity(of: current) else { return false }
      if here == folder { return true }
      // The root is its own parent.
      if here == last { return false }
      last = here
      let next = linux_openat(current, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
      close(current)
      current = next
    }
    return false
  }

  private static func isInFolder(_ directory: String) -> Problem {
    Problem(.invalid, "\(directory) is in the folder: a file that is moved there would be uploaded again")
  }
}
