// checked file: start and end are indices of the input in memory

import TransferAPI
import WireValues

/// Splits text files into lines: LF or CRLF, an optional byte order mark, blank lines, `#` comments.
enum InputLines {
  /// Like `each`, but keeps every byte: a path may begin with a space or with `#`. Empty lines are skipped.
  ///
  /// A path that is not UTF-8 fails alone, with a `FileFault`; a NUL byte in a line makes the whole list invalid.
  /// - Throws: `CommandFailure` for a file that cannot be read.
  static func eachLiteral(
    in file: ListFile, separator: UInt8, _ body: (Int, Result<String, any Error>) -> Void
  ) throws {
    var reader = file.reader()
    try eachLiteral(separator: separator, next: { try reader.next(separator: separator) }, body)
  }

  /// The same for bytes in memory.
  static func eachLiteral(in bytes: [UInt8], separator: UInt8, _ body: (Int, Result<String, any Error>) -> Void) {
    var pieces = [separator == 0 ? bytes[...] : withoutMark(bytes)]
    eachLiteral(separator: separator, next: { pieces.popLast() }, body)
  }

  private static func eachLiteral(
    separator: UInt8, next: () throws -> ArraySlice<UInt8>?, _ body: (Int, Result<String, any Error>) -> Void
  ) rethrows {
    try eachItem(separator: separator, next: next) { number, item in
      guard !item.isEmpty else { return }
      if item.contains(0) {
        body(number, .failure(WireError("has a NUL byte; use -0 for lists whose items end with NUL")))
      } else if let text = String(validating: item, as: UTF8.self) {
        body(number, .success(text))
      } else {
        let shown = String(decoding: item, as: UTF8.self)
        body(
          number,
          .failure(FileFault(status: .usage, description: "cannot upload \(shown): its name is not UTF-8; rename it")))
      }
    }
  }

  /// Calls `body` with the number (from 1) and the trimmed text of each line that is not blank and no comment, or with an
  /// error for a line that is not text.
  /// - Throws: `CommandFailure` for a file that cannot be read.
  static func each(in file: ListFile, _ body: (Int, Result<String, WireError>) -> Void) throws {
    var reader = file.reader()
    try eachItem(separator: UInt8(ascii: "\n"), next: { try reader.next() }) { number, item in
      if let line = text(of: item) { body(number, line) }
    }
  }

  /// The same for bytes in memory.
  static func each(in bytes: [UInt8], _ body: (Int, Result<String, WireError>) -> Void) {
    var pieces = [withoutMark(bytes)]
    eachItem(separator: UInt8(ascii: "\n"), next: { pieces.popLast() }) { number, item in
      if let line = text(of: item) { body(number, line) }
    }
  }

  private static func withoutMark(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
    bytes[(bytes.starts(with: [0xef, 0xbb, 0xbf]) ? 3 : 0)...]
  }

  private static func eachItem(
    separator: UInt8, next: () throws -> ArraySlice<UInt8>?, _ body: (Int, ArraySlice<UInt8>) -> Void
  ) rethrows {
    var number = 0
    // The parts of a line that is too long for one piece.
    var long: [UInt8] = []
    while let piece = try next() {
      var start = piece.startIndex
      while start < piece.endIndex {
        guard let end = piece[start...].firstIndex(of: separator) else {
          long += piece[start...]
          break
        }
        number += 1
        if long.isEmpty { body(number, piece[start..<end]) } else { body(number, (long + piece[start..<end])[...]) }
        long = []
        start = end + 1
      }
    }
    if !long.isEmpty { body(number + 1, long[...]) }
  }

  private static func text(of line: ArraySlice<UInt8>) -> Result<String, WireError>? {
    let line = line.trimmingLine()
    guard let first = line.first, first != UInt8(ascii: "#") else { return nil }
    guard !line.contains(0) else { return .failure(WireError("has a NUL byte")) }
    guard let text = String(validating: line, as: UTF8.self) else {
      return .failure(WireError("is not valid UTF-8"))
    }
    return .success(text)
  }
}
