import FoundationEssentials
import Glibc
import TransferAPI
import WireValues

/// The file behind `-i`, `--manifest` and `import`, which can be read more than once. A regular file is read where it is.
/// Anything else, such as a pipe, is first copied to an unlinked temporary file.
final class ListFile: Sendable {
  /// The name for messages.
  let name: String
  private let descriptor: Int32
  /// Where the list begins: standard input may have been read in part.
  private let start: off_t
  private let version: SourceIdentity

  /// The version of an open regular file; `nil` for other kinds.
  private static func version(of descriptor: Int32) -> SourceIdentity? {
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return SourceIdentity(
      device: UInt64(status.st_dev), inode: UInt64(status.st_ino), size: Int64(status.st_size),
      seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec)
  }

  /// - Parameter path: `-` is standard input.
  /// - Throws: `CommandFailure` that names the file.
  init(_ path: String) throws {
    name = path == "-" ? "standard input" : path
    let opened = path == "-" ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC)
    guard opened >= 0 else { throw InputFile.failure(name, errno) }
    var status = stat()
    if fstat(opened, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
      close(opened)
      throw InputFile.failure(name, EISDIR)
    }
    if let version = Self.version(of: opened) {
      (descriptor, self.version) = (opened, version)
      start = max(0, lseek(opened, 0, SEEK_CUR))
      return
    }
    defer { close(opened) }
    let copy = try TemporaryFile.open()
    do {
      try Self.copy(opened, to: copy, name)
      guard let version = Self.version(of: copy) else { throw InputFile.failure(name, errno) }
      (descriptor, self.version) = (copy, version)
      start = 0
    } catch {
      close(copy)
      throw error
    }
  }

  deinit { close(descriptor) }

  /// Reads from the beginning of the list.
  func reader() -> Reader { Reader(self) }

  /// - Throws: `CommandFailure` if the file is not the version that was opened.
  func requireUnchanged() throws(CommandFailure) {
    if Self.version(of: descriptor) != version { throw changed }
  }

  /// The error for a file that has other bytes when it is read again.
  var changed: CommandFailure {
    CommandFailure(.failed, "cannot add all of \(name): it changed while it was read; add the rest again")
  }

  /// Pieces of whole lines, in their order. The byte order mark of a text file is left out.
  struct Reader: Sendable {
    /// A line may have this many bytes; the daemon accepts no longer ones.
    static let maximumLineBytes = 1 << 20
    private static let pieceBytes = 1 << 16

    private let file: ListFile
    private var offset: off_t
    /// The beginning of a line whose end was not read yet.
    private var rest: [UInt8] = []
    private var isAtEnd = false

    fileprivate init(_ file: ListFile) {
      self.file = file
      offset = file.start
    }

    /// The next whole lines; `nil` at the end. A line longer than the maximum comes in several pieces.
    /// - Parameter separator: what ends a line. With NUL there is no byte order mark.
    /// - Throws: `CommandFailure` that names the file.
    mutating func next(separator: UInt8 = UInt8(ascii: "\n")) throws -> ArraySlice<UInt8>? {
      while !isAtEnd {
        let isFirst = offset == file.start
        let old = rest.count
        try fill()
        if isFirst, separator != 0, rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest.removeFirst(3) }
        guard !isAtEnd else { break }
        if let end = rest[min(old, rest.count)...].lastIndex(of: separator) ?? rest.lastIndex(of: separator) {
          let piece = rest[...end]
          rest = Array(rest[(end + 1)...])  // checked: an index of the array
          return piece
        }
        guard rest.count <= Self.maximumLineBytes else { break }
      }
      guard !rest.isEmpty else { return nil }
      defer { rest = [] }
      return rest[...]
    }

    private mutating func fill() throws {
      let old = rest.count
      rest.append(contentsOf: repeatElement(0, count: Self.pieceBytes))
      while true {
        let count = rest.withUnsafeMutableBytes { buffer in
          pread(file.descriptor, buffer.baseAddress! + old, Self.pieceBytes, offset)
        }
        if count < 0, errno == EINTR { continue }
        guard count >= 0 else { throw InputFile.failure(file.name, errno) }
        rest.removeLast(Self.pieceBytes - count)  // checked: pread returns at most what it was asked for
        offset += off_t(count)  // checked: a position in the file
        isAtEnd = count == 0
        return
      }
    }
  }

  private static func copy(_ input: Int32, to output: Int32, _ name: String) throws {
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(input, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw InputFile.failure(name, errno) }
      guard count > 0 else { return }
      if let code = writeFully(Array(chunk[..<count]), to: output) {
        throw CommandFailure(
          .failed, "cannot copy \(name) to a temporary file: \(String(cString: strerror(code))); set TMPDIR")
      }
    }
  }
}
