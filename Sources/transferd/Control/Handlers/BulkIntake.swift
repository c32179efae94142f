import FoundationEssentials
import Glibc
import NIOCore
import TransferAPI

/// Cuts a stream of bytes into lines, decodes them, and makes groups of them.
struct BulkIntake {
  struct Line: Sendable {
    var number: Int
    var job: Result<NewJob, Problem>
    /// The approximate number of bytes that the line holds in memory.
    var weight = 256
  }

  static let maximumLineBytes = 1 << 20
  static let groupSize = 1000

  private var pending = ByteBuffer()
  private var lines: [Line] = []
  /// The rest of a line that is too long is being dropped. The line gets one result.
  private var isSkipping = false
  private(set) var lineNumber = 0
  /// The bytes of the line that has not ended yet.
  var pendingBytes: Int { pending.readableBytes }
  private let decoder = WireCoding.decoder()

  mutating func take(_ buffer: ByteBuffer) {
    var buffer = buffer
    while let length = Self.lengthOfLine(in: buffer) {
      var piece = buffer.readSlice(length: length) ?? ByteBuffer()
      buffer.moveReaderIndex(forwardBy: 1)
      if isSkipping {
        isSkipping = false
      } else if pending.readableBytes == 0 {
        add(piece.withUnsafeReadableBytes { Data($0) })
      } else {
        pending.writeBuffer(&piece)
        add(pending.withUnsafeReadableBytes { Data($0) })
      }
      pending.clear()
    }
    guard !isSkipping else { return }
    pending.writeBuffer(&buffer)
    if pending.readableBytes > Self.maximumLineBytes {
      reject()
      isSkipping = true
      pending.clear()
    }
  }

  /// Searches the new bytes only, so that a long line takes linear time.
  private static func lengthOfLine(in buffer: ByteBuffer) -> Int? {
    buffer.withUnsafeReadableBytes { bytes in
      guard let start = bytes.baseAddress, let end = memchr(start, 10, bytes.count) else { return nil }
      return UnsafeRawPointer(end) - start  // checked: pointers into one buffer
    }
  }

  /// Up to `groupSize` lines, or `nil` if there are none.
  /// - Parameter isFinal: the input has ended: the last line counts without a newline.
  mutating func nextGroup(isFinal: Bool) -> [Line]? {
    if isFinal, pending.readableBytes > 0 {
      let data = pending.withUnsafeReadableBytes { Data($0) }
      pending.clear()
      if !isSkipping { add(data) }
    }
    guard !lines.isEmpty else { return nil }
    let group = Array(lines.prefix(Self.groupSize))
    lines.removeFirst(group.count)
    return group
  }

  private mutating func add(_ data: Data) {
    lineNumber += 1
    guard data.contains(where: { $0 > 0x20 }) else { return }
    guard data.count <= Self.maximumLineBytes else {
      lineNumber -= 1
      return reject()
    }
    do {
      let job = try WireCoding.decode(NewJob.self, from: data, with: decoder)
      lines.append(Line(number: lineNumber, job: .success(job), weight: 256 + data.count))
    } catch {
      let problem = Problem(.invalid, text: WireCoding.explanation(of: error))
      lines.append(Line(number: lineNumber, job: .failure(problem), weight: 256 + problem.detail.utf8.count))
    }
  }

  private mutating func reject() {
    lineNumber += 1
    lines.append(
      Line(
        number: lineNumber,
        job: .failure(Problem(.tooLarge, "the line is longer than \(Self.maximumLineBytes) bytes"))))
  }
}
