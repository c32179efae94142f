import Glibc
import Store
import TransferAPI
import TransferEngine
import WireValues

/// Checks the destination of a new job in the file system, so that the caller learns of an error at once and not when the
/// job runs.
struct DestinationCheck {
  /// The rules for where the caller's jobs may write.
  let rules: PathRules
  /// Directories that passed the rules in this check, as bytes: `String` treats different Unicode forms as equal.
  private var allowed: Set<[UInt8]> = []
  /// Directories that were usable in this check, as bytes. Jobs that are added together often share a directory.
  private var usable: Set<[UInt8]> = []

  init(rules: PathRules = .none) { self.rules = rules }

  /// Checks one job.
  /// - Throws: `Problem` with `destination-exists`, `destination-missing` or `permission`.
  mutating func check(_ spec: JobSpec) throws(Problem) {
    let isUnnamed = spec.destination.hasTrailingSlash
    let path = spec.destination.parentPath
    // First, so that a caller cannot find out whether a forbidden path exists.
    try checkRules(path, isUnnamed ? nil : String(spec.destination.baseName))
    if !usable.contains(Array(path.utf8)) {
      try Self.checkDirectory(path, creating: spec.options.download.createDirectories)
      if !spec.options.download.createDirectories { usable.insert(Array(path.utf8)) }
    }
    if case .move(let directory) = spec.options.onSuccess {
      try checkRules(directory, isUnnamed ? nil : String(spec.destination.baseName))
      if !usable.contains(Array(directory.utf8)) {
        try Self.checkMoveDirectory(directory)
        usable.insert(Array(directory.utf8))
      }
    }
    if let directory = spec.options.download.partDir { try checkPartDirectory(directory) }
    guard !isUnnamed else { return }
    var status = stat()
    guard lstat(spec.destination, &status) == 0, !spec.mayHaveOtherName else { return }
    // With any rule: only files and symbolic links are replaced, and only files are compared.
    guard [S_IFREG, S_IFLNK].contains(status.st_mode & S_IFMT) else {
      let kind = SourceCheck.kind(status.st_mode)
      throw Problem(.destinationExists, "cannot write to \(spec.destination): it is \(kind)")
    }
    if spec.refusesExisting {
      throw Problem(
        .destinationExists,
        text: "cannot write to \(spec.destination): it exists; use \(field: "replace") to replace it")
    }
  }

  /// Checks a directory to which files are moved after their transfer.
  static func checkMoveDirectory(_ path: String) throws(Problem) {
    var status = stat()
    guard stat(path, &status) == 0 else {
      if errno == EACCES { throw Problem(.permission, "cannot move files to \(path): permission denied") }
      throw Problem(.destinationMissing, "the directory \(path) does not exist; create it before files are moved there")
    }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      throw Problem(.destinationMissing, "cannot move files to \(path): it is not a directory")
    }
    guard access(path, W_OK | X_OK) == 0 else {
      throw Problem(.permission, "cannot move files to \(path): permission denied")
    }
  }

  /// It is never created: on a mount point without its disk, it would be made on the wrong one.
  private mutating func checkPartDirectory(_ path: String) throws(Problem) {
    try checkRules(path, nil)
    guard !usable.contains(Array(path.utf8)) else { return }
    var status = stat()
    if stat(path, &status) != 0, errno == ENOENT {
      throw Problem(
        .destinationMissing, text: "the directory of \(field: "partDir"), \(path), does not exist; create it first")
    }
    try Self.checkDirectory(path, creating: false)
    usable.insert(Array(path.utf8))
  }

  private mutating func checkRules(_ directory: String, _ name: String?) throws(Problem) {
    let isSpecial = rules.files.contains { $0.path.baseName == name ?? "" }
    guard isSpecial || !allowed.contains(Array(directory.utf8)) else { return }
    do throws(TransferError) {
      try rules.checkDestination(directory, name: name)
    } catch {
      throw Problem(.permission, error.description)
    }
    allowed.insert(Array(directory.utf8))
  }

  private static func checkDirectory(_ path: String, creating: Bool) throws(Problem) {
    var status = stat()
    if stat(path, &status) == 0 {
      guard status.st_mode & S_IFMT == S_IFDIR else {
        throw Problem(.destinationMissing, "cannot write to \(path): it is not a directory")
      }
      guard access(path, W_OK | X_OK) == 0 else {
        throw Problem(.permission, "cannot write to \(path): permission denied")
      }
      return
    }
    guard errno == ENOENT, creating else {
      if errno == EACCES { throw Problem(.permission, "cannot access \(path): permission denied") }
      throw Problem(
        .destinationMissing,
        text: "the directory \(path) does not exist; use \(field: "createDirectories") to create it")
    }
    guard path != "/" else { return }
    try checkDirectory(path.parentPath, creating: true)
  }
}

extension JobSpec {
  /// Whether the file gets another name if the destination exists.
  fileprivate var mayHaveOtherName: Bool { options.download.ifExists == .rename }

  /// Whether the job is refused if the destination exists. With `ifChanged` the attempt decides.
  fileprivate var refusesExisting: Bool {
    switch options.download.ifExists {
    case .fail?, nil: !options.download.replace && !options.download.ifChanged
    case .skip?, .verify?, .rename?, .replace?: false
    }
  }
}
