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
    folder.directory = plain(try JobValidation.checked(request.directory, true))
    guard !folder.hasSecrets else {
      throw Problem(
        .invalid,
        "a folder keeps no passwords, keys and tokens; name them with credentials or secretHeaders (env:, file:, exec:)"
      )
    }
    if folder.options.onSuccess != .keep, folder.settle == nil {
      throw Problem(
        .invalid, "onSuccess \(folder.options.onSuccess) needs settle: say how long a file must stand still")
    }
    if folder.options.schedule.deadline != nil || folder.options.schedule.notBefore != nil {
      throw Problem(.invalid, "notBefore and deadline are for single jobs, not for a folder")
    }
    guard case .move(let target) = folder.options.onSuccess else { return folder }
    let directory = plain(try JobValidation.checked(target, true))
    folder.options.onSuccess = .move(to: directory)
    let isBelow = directory.hasPrefix(folder.directory == "/" ? "/" : folder.directory + "/")
    if directory == folder.directory || folder.recursive && isBelow {
      throw Problem(.invalid, "\(directory) is in the folder: a file that is moved there would be uploaded again")
    }
    return folder
  }

  private static func plain(_ path: String) -> String { path == "/" ? path : String(path.withoutTrailingSlash) }

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
      guard stat(directory, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
        throw Problem(
          index == 0 ? .sourceMissing : .destinationMissing,
          "the directory \(directory) does not exist; create it first")
      }
    }
    let needed = folder.options.onSuccess == .keep ? R_OK | X_OK : R_OK | W_OK | X_OK
    guard access(folder.directory, needed) == 0 else {
      throw Problem(.permission, "cannot watch \(folder.directory): permission denied")
    }
  }
}
