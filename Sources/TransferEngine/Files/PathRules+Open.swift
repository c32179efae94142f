import CLinux
import Glibc
import WireValues

/// Opens paths under rules.
extension PathRules {
  /// The most links that are followed on one path; the kernel's own limit (path_resolution(7)).
  private static let maximumLinks = 40

  /// Opens a directory. Follows symbolic links, except those of /proc that lead to objects without a path.
  /// - Parameter isRestricted: false follows the links of /proc too.
  /// - Returns: -1 and `errno` if it cannot be opened.
  static func openDirectory(
    _ path: String, at base: Int32 = AT_FDCWD, _ flags: Int32, isRestricted: Bool = true
  ) -> Int32 {
    let flags = flags | O_DIRECTORY | O_CLOEXEC
    guard isRestricted else { return linux_openat(base, path, flags, 0) }
    let descriptor = linux_open_without_magic_links(base, path, flags)
    return descriptor < 0 && errno == ENOSYS ? walk(path, at: base, flags) : descriptor
  }

  /// The same without openat2(2): goes component by component, reads each link and follows its text. So a link of /proc
  /// leads only to the path that its text names.
  static func walk(_ path: String, at base: Int32 = AT_FDCWD, _ flags: Int32) -> Int32 {
    let passing = linux_path_only | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW
    var current = linux_openat(base, path.isAbsolutePath ? "/" : ".", passing & ~O_NOFOLLOW, 0)
    var pending = components(path)
    var links = 0
    while current >= 0, let name = pending.popLast() {
      var next = linux_openat(current, name, passing, 0)
      var code = errno
      if next < 0, let target = target(of: name, in: current) {
        links += 1
        pending += components(target)
        next = links > maximumLinks ? -1 : linux_openat(current, target.isAbsolutePath ? "/" : ".", passing, 0)
        code = links > maximumLinks ? ELOOP : errno
      }
      close(current)
      current = next
      errno = code
    }
    guard current >= 0 else { return -1 }
    let opened = linux_openat(current, ".", flags, 0)
    let code = errno
    close(current)
    errno = code
    return opened
  }

  /// The names of a path, the last one first.
  private static func components(_ path: String) -> [String] {
    path.componentsOfPath.reversed().filter { $0 != "." }.map(String.init)
  }

  /// The text of a symbolic link; `nil` for anything else.
  static func target(of name: String, in directory: Int32) -> String? {
    var buffer = [CChar](repeating: 0, count: 4097)
    let count = readlinkat(directory, name, &buffer, buffer.count - 1)
    guard count > 0 else { return nil }
    return String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Opens a file for reading: finds its directory, following links, checks the directory, and opens the file beneath
  /// it.
  /// - Returns: -1 and `errno` if it cannot be opened.
  /// - Throws: `.file(.permission)` if the rules refuse it.
  func openFile(_ path: String, _ flags: Int32) throws(TransferError) -> Int32 {
    guard !isEmpty else { return linux_openat(AT_FDCWD, path, flags, 0) }
    var base = AT_FDCWD
    var rest = path
    defer { if base >= 0 { close(base) } }
    for _ in 0...Self.maximumLinks {
      let name = String(rest.baseName)
      let directory = Self.openDirectory(rest.parentPath, at: base, linux_path_only)
      let code = errno
      if base >= 0 { close(base) }
      base = directory
      guard directory >= 0 else {
        try checkNearest(path)
        errno = code
        return -1
      }
      if let target = Self.target(of: name, in: directory) {
        rest = target
        continue
      }
      try check(directory, name, as: path)
      // A link that has appeared since is examined like any other.
      let file = linux_openat(directory, name, flags | O_NOFOLLOW, 0)
      if file < 0, errno == ELOOP { continue }
      if file >= 0 { try checkLinks(file, path) }
      return file
    }
    errno = ELOOP
    return -1
  }

  private func checkLinks(_ file: Int32, _ path: String) throws(TransferError) {
    guard let linkOwner else { return }
    var status = stat()
    guard fstat(file, &status) == 0, status.st_nlink == 1 || status.st_uid == linkOwner else {
      close(file)
      throw Self.refusal(path, "it has several hard links and belongs to another user")
    }
  }
}
