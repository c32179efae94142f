import CLinux
import Glibc
import WireValues

/// Restricts the paths of a request: which directories it must not use, and which ones it must stay below.
///
/// The rules are checked on open directories, by device and inode, each time one is opened: replacing a parent by a
/// symbolic link in the meantime has no effect. Symbolic links are followed; the rules apply to where they lead.
public struct PathRules: Sendable, Equatable {
  /// A directory that must not be used, with everything below it, or one file.
  public struct Protected: Sendable, Hashable {
    /// An absolute path. If it does not exist, it must not be created either.
    public var path: String
    /// The reason; it completes "cannot use PATH: …".
    public var reason: String
    /// The directory when these rules were made; it stays protected if it is renamed.
    let original: DirectoryIdentity?

    /// Protects what the path leads to now and at each check.
    public init(_ path: String, reason: String) {
      self.path = path
      self.reason = reason
      original = DirectoryIdentity(path: path)
    }
  }

  /// Directories that cannot be used, with everything below them.
  public var directories: [Protected]
  /// Files that can be neither read nor replaced, in directories that may be used.
  public var files: [Protected]
  /// Everything must be in or below one of these directories; `nil`: anywhere.
  public var roots: [String]?
  /// Why a path outside `roots` is refused; it completes "cannot use PATH: …".
  public var outsideReason: String
  /// A file with several hard links can be read only if it belongs to this user: a hard link below `roots` could refer
  /// to a file from elsewhere. `nil`: hard links do not matter.
  public var linkOwner: UInt32?

  /// No rules: every path may be used.
  public static let none = PathRules()

  /// Rules; none by default.
  public init(
    directories: [Protected] = [], files: [Protected] = [], roots: [String]? = nil,
    outsideReason: String = "it is outside of the allowed directories", linkOwner: UInt32? = nil
  ) {
    self.directories = directories
    self.files = files
    self.roots = roots
    self.outsideReason = outsideReason
    self.linkOwner = linkOwner
  }

  /// Whether every path may be used.
  public var isEmpty: Bool { directories.isEmpty && files.isEmpty && roots == nil && linkOwner == nil }

  static func refusal(_ path: String, _ reason: String) -> TransferError {
    .file(.permission("cannot use \(path): \(reason)"))
  }

  // MARK: Paths

  /// Checks where a file will be written, without creating anything.
  /// - Parameters:
  ///   - directory: an absolute path; if it does not exist, its deepest existing parent is checked.
  ///   - name: the file's name, if it is known.
  /// - Throws: `.file(.permission)`.
  public func checkDestination(_ directory: String, name: String? = nil) throws(TransferError) {
    guard !isEmpty else { return }
    let descriptor = Self.openDirectory(directory, linux_path_only)
    guard descriptor >= 0 else { return try checkNearest(directory) }
    defer { close(descriptor) }
    try check(descriptor, name, as: name.map { directory.appendingName($0) } ?? directory)
  }

  /// Checks a file that will be read, without reading it.
  /// - Throws: `.file(.permission)`, `.source`.
  public func checkSource(_ path: String) throws(TransferError) {
    guard !isEmpty else { return }
    _ = try OpenSource(path: path, rules: self)
  }

  /// Checks the deepest existing directory on a path that does not exist or cannot be reached. If there are roots, a
  /// link that leads nowhere is refused: the result would reveal whether something outside the roots exists.
  func checkNearest(_ path: String) throws(TransferError) {
    guard !isEmpty else { return }
    let names = path.componentsOfPath.map(String.init)
    for count in stride(from: names.count, through: 0, by: -1) {
      let descriptor = Self.openDirectory("/" + names[..<count].joined(separator: "/"), linux_path_only)
      guard descriptor >= 0 else {
        if errno == ELOOP { throw Self.refusal(path, "it leads through too many links, or through one of /proc") }
        continue
      }
      defer { close(descriptor) }
      try check(descriptor, as: path)
      guard count < names.count else { return }
      if let identity = DirectoryIdentity(of: descriptor) { try checkMaking(names[count...], in: identity, as: path) }
      if roots != nil, Self.target(of: names[count], in: descriptor) != nil {
        throw Self.refusal(path, outsideReason)
      }
      return
    }
  }

  // MARK: Open directories

  /// Checks an open directory and all directories above it.
  /// - Parameters:
  ///   - name: the name that will be used in it, if there is one.
  ///   - path: for the message.
  /// - Throws: `.file(.permission)`; `.file` if a directory above cannot be examined.
  package func check(_ directory: Int32, _ name: String? = nil, as path: String) throws(TransferError) {
    guard !isEmpty else { return }
    guard let own = DirectoryIdentity(of: directory) else { throw Self.unknown(path) }
    if let name { try checkName(name, in: own, as: path) }
    let closed = directories.flatMap { place in
      [place.original, DirectoryIdentity(path: place.path)].compactMap { $0 }.map { ($0, place.reason) }
    }
    let open = roots?.compactMap { DirectoryIdentity(path: $0) }
    var isInside = open == nil
    let root = DirectoryIdentity(path: "/")
    var current = own
    var above = ".."
    while true {
      if let (_, reason) = closed.first(where: { $0.0 == current }) { throw Self.refusal(path, reason) }
      if !isInside, open?.contains(current) ?? true { isInside = true }
      guard let parent = DirectoryIdentity(above, at: directory) else { throw Self.unknown(path) }
      // Only the root is its own parent. A directory that is mounted below itself also has the same numbers as its
      // parent.
      if parent == current, current == root { break }
      current = parent
      above += "/.."
    }
    guard isInside else { throw Self.refusal(path, outsideReason) }
  }

  /// Checks that a name in a directory is not that of a protected file.
  func checkName(_ name: String, in directory: DirectoryIdentity, as path: String) throws(TransferError) {
    for file in files where file.path.baseName == name {
      if DirectoryIdentity(path: file.path.parentPath) == directory { throw Self.refusal(path, file.reason) }
    }
  }

  /// Checks that new directories are not protected ones that do not exist yet.
  /// - Parameter names: each is created in the one before it, the first one in `directory`.
  func checkMaking(
    _ names: ArraySlice<String>, in directory: DirectoryIdentity, as path: String
  ) throws(TransferError) {
    for place in directories where DirectoryIdentity(path: place.path) == nil {
      guard let missing = Self.missing(place.path) else { continue }
      if missing.parent == directory, names.starts(with: missing.names) { throw Self.refusal(path, place.reason) }
    }
  }

  private static func unknown(_ path: String) -> TransferError {
    .file(.system("cannot check the directories above \(path)", errno: errno))
  }

  /// The missing names of a path, and the directory in which the first one would be created.
  private static func missing(_ path: String) -> (parent: DirectoryIdentity, names: ArraySlice<String>)? {
    let names = path.componentsOfPath.map(String.init)
    for count in stride(from: names.count - 1, through: 0, by: -1) {
      if let parent = DirectoryIdentity(path: "/" + names[..<count].joined(separator: "/")) {
        return (parent, names[count...])
      }
    }
    return nil
  }
}
