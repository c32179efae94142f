import CLinux
import Glibc
import WireValues

/// A small file beside the part file that says which pieces of it were written, for the case that the process is killed.
///
/// It is not synced: a kill leaves the pages of both files in the page cache, and each piece is noted after its bytes were
/// written. After another boot it proves nothing, and its head, which has the boot's id, no longer matches. One byte stands for
/// a piece, so that noting one needs no byte that was there before.
///
/// Values are immutable, and every call is a system call with an explicit offset.
final class PieceMap: Sendable {
  /// The part file that it describes.
  struct Subject: Equatable, Sendable {
    var part: FileIdentity
    var total: Int64
    var bootID = BootID.current

    /// Identifies the subject at the beginning of the map.
    var head: [UInt8] {
      let text = "transfer pieces 1\n\(bootID)\n\(part)\n\(total)\n"
      return Array(text.utf8.prefix(PieceMap.headBytes)) + Array(repeating: 0, count: max(0, headRest(text.utf8.count)))
    }

    private func headRest(_ count: Int) -> Int { PieceMap.headBytes - count }  // checked: both are small
  }

  static let headBytes = 512
  static let pieceBytes: Int64 = 256 << 10
  private static let written: UInt8 = 1

  let identity: FileIdentity
  private let descriptor: Int32
  private let total: Int64

  private init(descriptor: Int32, total: Int64) {
    self.descriptor = descriptor
    self.total = total
    identity = PartialFile.identity(of: descriptor)
  }

  deinit { close(descriptor) }

  /// The map's name.
  static func name(of partialName: String) -> String { partialName + ".map" }

  /// Creates a new map in which these bytes are noted. Blocks for a moment.
  /// - Returns: `nil` if it cannot be made; then a kill costs what was fetched since the last checkpoint.
  static func create(
    in directory: Directory, partialName: String, _ subject: Subject, _ completed: ByteRanges
  ) -> PieceMap? {
    let name = name(of: partialName)
    directory.remove(name)
    let descriptor = linux_openat(directory.descriptor, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return nil }
    let map = PieceMap(descriptor: descriptor, total: subject.total)
    guard map.write(subject.head, at: 0), completed.ranges.allSatisfy({ map.note($0, within: $0) }) else {
      directory.remove(name)
      return nil
    }
    return map
  }

  /// The bytes that were written, by the map of this subject; `nil` if there is none, or if another program made it. Blocks.
  static func read(
    in directory: Directory, partialName: String, _ subject: Subject, expecting identity: FileIdentity
  ) -> ByteRanges? {
    let flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY
    let descriptor = linux_openat(directory.descriptor, name(of: partialName), flags, 0)
    guard descriptor >= 0 else { return nil }
    let map = PieceMap(descriptor: descriptor, total: subject.total)
    guard map.identity == identity, map.bytes(at: 0, count: headBytes) == subject.head else { return nil }
    return map.ranges()
  }

  /// Notes the pieces of a range that lie wholly within written bytes.
  /// - Parameters:
  ///   - range: what was written last.
  ///   - written: the written bytes around it.
  /// - Returns: false if that was not possible.
  @discardableResult
  func note(_ range: Range<Int64>, within written: Range<Int64>) -> Bool {
    let first = max(Self.piece(roundingUp: written.lowerBound), range.lowerBound / Self.pieceBytes)
    let isAtEnd = written.upperBound >= total
    let end = isAtEnd ? Self.piece(roundingUp: total) : written.upperBound / Self.pieceBytes
    let last = min(end, Self.piece(roundingUp: range.upperBound))
    guard first < last else { return true }
    // checked: at most `SegmentPlan.maximumTotal` / `pieceBytes`
    return write(Array(repeating: Self.written, count: Int(last - first)), at: Int64(Self.headBytes) + first)
  }

  private func ranges() -> ByteRanges {
    var ranges = ByteRanges()
    let pieces = Self.piece(roundingUp: total)
    let step: Int64 = 1 << 16
    for start in stride(from: Int64(0), to: pieces, by: Int64.Stride(step)) {
      // checked: numbers of pieces
      let count = Int(min(step, pieces - start))
      let offset = Int64(Self.headBytes) + start  // checked: as above
      guard let bytes = bytes(at: offset, count: count) else { return ranges }
      for (index, byte) in bytes.enumerated() where byte == Self.written {
        // checked: the number of a piece times its size is at most the total, rounded up
        let offset = (start + Int64(index)) * Self.pieceBytes
        ranges.insert(offset..<min(offset + Self.pieceBytes, total))  // checked: as above
      }
    }
    return ranges
  }

  private static func piece(roundingUp offset: Int64) -> Int64 {
    offset / pieceBytes + (offset % pieceBytes > 0 ? 1 : 0)  // checked: at most the total
  }

  /// Bytes after the file's end read as 0.
  private func bytes(at offset: Int64, count: Int) -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: count)
    var done = 0
    while done < count {
      let got = buffer.withUnsafeMutableBytes {
        // checked: done < count, and the offset is small
        pread(descriptor, $0.baseAddress! + done, count - done, off_t(offset) + done)
      }
      if got < 0, errno == EINTR { continue }
      guard got >= 0 else { return nil }
      if got == 0 { break }
      done += got
    }
    return buffer
  }

  private func write(_ bytes: [UInt8], at offset: Int64) -> Bool {
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeBytes {
        // checked: done < count, and the offset is small
        pwrite(descriptor, $0.baseAddress! + done, bytes.count - done, off_t(offset) + done)
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      done += count
    }
    return true
  }
}
