import FoundationEssentials
import Glibc

/// Reads a request's body for libcurl, from memory and from files. Rewinds if libcurl sends the body again.
///
/// At most one file is open at a time, from its first byte that is read, so that a form with 10,000 files needs one
/// descriptor. The length is known from the start.
final class BodyReader: BodyReading {
  let size: Int64
  private let segments: [BodySegment]
  /// The position of each segment in the body.
  private let starts: [Int64]
  private var index = 0
  private(set) var position: Int64 = 0
  private var openFile: SourceFile?

  /// - Throws: `.file` if a file is missing, is not a regular file, or does not have the bytes to send.
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
        // A file that is split into many pieces is checked once.
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

  /// Passes a whole body on piece by piece. Blocks: call it in `BlockingIO`.
  static func forEachPiece(
    of body: RequestBody, _ take: (UnsafeRawBufferPointer) throws(TransferError) -> Void
  ) throws(TransferError) {
    let reader = try BodyReader(body)
    defer { reader.close() }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
    defer { buffer.deallocate() }
    while case let count = try reader.read(into: buffer), count > 0 {
      try take(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    }
  }

  /// Closes the open file. Nothing is read afterwards.
  func close() {
    openFile?.close()
    openFile = nil
  }

  deinit { openFile?.close() }

  /// False, without any change, if the body has no such position.
  func seek(to offset: Int64) -> Bool {
    guard (0...size).contains(offset) else { return false }  // checked: a sum of sizes
    position = offset
    index = lastStart(notBeyond: offset)
    return true
  }

  /// The number of bytes read; 0 at the end. Never more than `size` in all, so that a growing file does not break the
  /// request.
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

  /// The last segment that begins at or before a position.
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
