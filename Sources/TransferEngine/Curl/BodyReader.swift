import FoundationEssentials
import Glibc

/// Where libcurl gets a request's body from. Used on the transfer loop's thread alone.
protocol BodyReading: AnyObject {
  var size: Int64 { get }
  /// Bytes that were handed over, from the beginning.
  var position: Int64 { get }
  /// Bytes read; 0 at the end; `TRANSFER_READFUNC_PAUSE` to be asked again after `TransferLoop.unpause`.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(TransferError) -> Int
  /// Goes back, where libcurl has to send again; false where that must not be.
  func seek(to offset: Int64) -> Bool
  func close()
}

/// Reads a request's body for libcurl, from memory and from files; rewinds when libcurl sends it again.
///
/// At most one file is open at a time, from the first byte that is read of it, so that a form with 10,000 files needs
/// one descriptor. The length is known from the beginning.
final class BodyReader: BodyReading {
  let size: Int64
  private let segments: [BodySegment]
  /// Where each segment begins in the body.
  private let starts: [Int64]
  private var index = 0
  private(set) var position: Int64 = 0
  private var openFile: SourceFile?

  /// - Throws: `.file` where a file is not there, is not a regular file, or does not hold the bytes that are to be sent.
  init(_ body: RequestBody) throws(TransferError) {
    switch body {
    case .stream: preconditionFailure("a stream is read by its pipe")
    case .data(let bytes): segments = [.data(bytes)]
    case .file(let path):
      let file = try SourceFile(path)
      openFile = file
      segments = [.file(path: path, range: 0..<file.size)]  // checked: fstat(2) says no size below 0
    case .segments(let given):
      segments = given.filter { $0.count > 0 }
      var last: String?
      for case .file(let path, let range) in segments {
        guard range.lowerBound >= 0 else {
          throw .file(.io("cannot send \(path) from byte \(range.lowerBound)", errno: EINVAL))
        }
        // A file that is cut into many pieces is looked at once.
        if path != last { try SourceFile.check(path, holds: range.upperBound) }
        last = path
      }
    }
    var starts: [Int64] = []
    var end: Int64 = 0
    for segment in segments {
      starts.append(end)
      let (sum, overflow) = end.addingReportingOverflow(segment.count)
      guard !overflow else { throw .file(.io("cannot send more than \(Int64.max) bytes", errno: EFBIG)) }
      end = sum
    }
    self.starts = starts
    size = end
  }

  /// Closes the file that is open. Nothing is read afterwards.
  func close() {
    openFile?.close()
    openFile = nil
  }

  deinit { openFile?.close() }

  /// False, and nothing changed, where the body has no such place.
  func seek(to offset: Int64) -> Bool {
    guard (0...size).contains(offset) else { return false }  // checked: a sum of sizes
    position = offset
    index = lastStart(notBeyond: offset)
    return true
  }

  /// Bytes read; 0 at the end. Never more than `size` in all, so that a growing file does not break the request.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(TransferError) -> Int {
    var filled = 0
    while filled < buffer.count, index < segments.count {
      let segment = segments[index]
      let offset = position - starts[index]  // checked: starts[index] ≤ position
      // checked: offset lies within the segment
      let wanted = Int(min(Int64(buffer.count - filled), segment.count - offset))
      guard wanted > 0 else {
        index += 1
        continue
      }
      // checked: wanted is at most the rest of the buffer
      let target = UnsafeMutableRawBufferPointer(rebasing: buffer[filled..<filled + wanted])
      let count = try read(segment, from: offset, into: target)
      filled += count
      position += Int64(count)  // checked: at most size
    }
    return filled
  }

  private func read(
    _ segment: BodySegment, from offset: Int64, into buffer: UnsafeMutableRawBufferPointer
  ) throws(TransferError) -> Int {
    switch segment {
    case .data(let bytes):
      let first = Int(offset)
      // checked: the buffer is at most the rest of the segment
      bytes.withUnsafeBytes { buffer.copyMemory(from: .init(rebasing: $0[first..<first + buffer.count])) }
      return buffer.count
    case .file(let path, let range):
      // checked: offset lies within the range
      return try file(path).read(from: range.lowerBound + offset, into: buffer)
    case .kept(let stream):
      return try file(stream.file.path).read(from: offset, into: buffer)
    }
  }

  private func file(_ path: String) throws(TransferError) -> SourceFile {
    if let openFile, openFile.path == path { return openFile }
    close()
    let file = try SourceFile(path)
    openFile = file
    return file
  }

  /// The last segment that begins at or before a place.
  private func lastStart(notBeyond offset: Int64) -> Int {
    var low = 0
    var high = starts.count
    while low < high {
      let middle = (low + high) / 2
      if starts[middle] <= offset { low = middle + 1 } else { high = middle }
    }
    return max(0, low - 1)
  }
}

/// A regular file that is open for reading.
struct SourceFile {
  let path: String
  /// When it was opened.
  let size: Int64
  private let descriptor: Int32

  /// A pipe or a device would block the loop's thread: neither is opened.
  /// - Throws: `.file` where the path is not a readable regular file.
  init(_ path: String) throws(TransferError) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
    guard descriptor >= 0 else { throw .file(.system("cannot read \(path)", errno: errno)) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      Glibc.close(descriptor)
      throw Self.notRegular(path)
    }
    self.path = path
    self.descriptor = descriptor
    size = Int64(status.st_size)
  }

  /// - Throws: `.file` where the path is not a regular file of at least this size.
  static func check(_ path: String, holds count: Int64) throws(TransferError) {
    var status = stat()
    guard stat(path, &status) == 0 else { throw .file(.system("cannot read \(path)", errno: errno)) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw notRegular(path) }
    guard Int64(status.st_size) >= count else { throw tooShort(path) }
  }

  /// Some bytes, at least one.
  /// - Throws: `.file` where there are none: the file became shorter.
  func read(from offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws(TransferError) -> Int {
    while true {
      let count = pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
      if count > 0 { return count }
      guard count < 0 else { throw Self.tooShort(path) }
      guard errno == EINTR else { throw .file(.system("cannot read \(path)", errno: errno)) }
    }
  }

  func close() { Glibc.close(descriptor) }

  private static func notRegular(_ path: String) -> TransferError {
    .file(.io("cannot read \(path): it is not a regular file", errno: EINVAL))
  }

  private static func tooShort(_ path: String) -> TransferError {
    .file(.io("cannot send \(path): it became shorter than what was to be sent", errno: EIO))
  }
}
