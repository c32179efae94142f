import FoundationEssentials
import Glibc
import Synchronization
import TransferAPI
import WireValues

/// URLs of arguments and of a file, which become the body of a bulk add (`text/uri-list`). They are read twice: to check
/// them, and to send them. Neither takes memory that grows with the list.
struct URLList: Sendable {
  let arguments: [String]
  let file: ListFile?
  /// The number of URLs.
  private(set) var count = 0
  private var fingerprint = Fingerprint()

  /// - Parameter file: every line is a URL, a comment or blank.
  init(_ arguments: [String], _ file: ListFile?) {
    self.arguments = arguments
    self.file = file
  }

  /// Checks every line.
  /// - Parameter report: called with each fault, in the order of the lines.
  /// - Returns: the number of faults.
  mutating func check(_ report: (JobLines.Fault) -> Void) throws -> Int {
    var check = URLCheck()
    var (faults, number) = (0, 0)
    func fail(_ origin: JobLines.Origin, _ message: String) {
      faults += 1
      report(JobLines.Fault(origin: origin, message: message, status: .usage))
    }
    for url in arguments {
      count += 1
      if let message = Array(url.utf8).withUnsafeBytes({ check.fault(in: $0) }) { fail(.argument(url), message) }
    }
    guard let file else { return faults }
    var reader = file.reader()
    while let piece = try reader.next() {
      fingerprint.update(piece)
      piece.withUnsafeBytes { bytes in
        Self.eachLine(of: bytes) { line in
          number += 1
          guard let url = Self.plain(line), url.first != UInt8(ascii: "#") else { return }
          count += 1
          if let message = check.fault(in: url) { fail(.line(number), message) }
        }
      }
    }
    return faults
  }

  /// The body of the request, from its beginning. It ends early, after a whole line, if the user has interrupted.
  ///
  /// The closure throws `CommandFailure` if the file is not the one that was checked.
  func pieces() -> @Sendable () throws -> Data? {
    let state = Mutex(Sending(reader: file?.reader()))
    return { [self] in try state.withLock { try next(&$0) } }
  }

  private struct Sending {
    var reader: ListFile.Reader?
    var hasSentArguments = false
    var fingerprint = Fingerprint()
  }

  private func next(_ sending: inout Sending) throws -> Data? {
    guard !Interrupt.isRequested else { return nil }
    if !sending.hasSentArguments {
      sending.hasSentArguments = true
      if !arguments.isEmpty { return Data((arguments.joined(separator: "\n") + "\n").utf8) }
    }
    guard let file else { return nil }
    try file.requireUnchanged()
    guard let piece = try sending.reader?.next() else {
      // The same size and time do not prove that the bytes are the same.
      guard sending.fingerprint == fingerprint else { throw file.changed }
      return nil
    }
    sending.fingerprint.update(piece)
    return Data(piece)
  }

  /// - Parameter line: of the body, from 1.
  func origin(ofLine line: Int) -> JobLines.Origin? {
    guard line >= 1 else { return nil }
    // checked: line is at least 1
    return line <= arguments.count ? .argument(arguments[line - 1]) : .line(line - arguments.count)
  }

  static func eachLine(of bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let whole = UnsafeRawBufferPointer(rebasing: rest)
      guard let start = whole.baseAddress, let found = memchr(start, 10, whole.count) else { return body(whole) }
      let count = UnsafeRawPointer(found) - start  // checked: pointers into one buffer
      body(UnsafeRawBufferPointer(rebasing: whole[..<count]))
      rest = rest.dropFirst(count + 1)  // checked: a position in the buffer
    }
  }

  /// The line without blanks around it; `nil` for a blank line.
  static func plain(_ line: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    let line = line.trimmingLine()
    return line.isEmpty ? nil : UnsafeRawBufferPointer(rebasing: line)
  }
}
