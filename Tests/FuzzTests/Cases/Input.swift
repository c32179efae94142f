import FoundationEssentials
import HTTPTypes

@testable import TransferEngine

/// Splits an input into parts. Inputs are text where possible, so that the corpora can be read and written by hand: some
/// lines with numbers and names, then the bytes to parse.
struct Input {
  private(set) var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  var text: String { String(decoding: rest, as: UTF8.self) }

  mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

  /// The next line, without its end.
  mutating func line() -> String {
    let end = rest.firstIndex(of: UInt8(ascii: "\n")) ?? rest.endIndex
    let line = String(decoding: rest[..<end], as: UTF8.self)
    rest = rest[end...].dropFirst()
    return line
  }

  /// The numbers in the next line; a word that is not a number is `nil`.
  mutating func numbers() -> [Int64?] { line().split(separator: " ").map { Int64($0) } }

  /// The next line; `nil` for an empty one.
  mutating func optionalLine() -> String? {
    let line = line()
    return line.isEmpty ? nil : line
  }

  /// The rest as lines of a response head, each with its line end, as libcurl delivers them.
  mutating func headLines() -> [ArraySlice<UInt8>] {
    var lines: [ArraySlice<UInt8>] = []
    while !rest.isEmpty {
      let end = rest.firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? rest.endIndex
      lines.append(rest[..<end])
      rest = rest[end...]
    }
    return lines
  }

  /// The rest as a response head, up to the first final one. A missing status line is `HTTP/1.1 200 OK`.
  mutating func head() -> ResponseHead? {
    var parser = ResponseHeadParser(HeadLimits(totalBytes: 1 << 20, interims: 100))
    var lines = headLines()
    if !(lines.first?.starts(with: "HTTP/".utf8) ?? false) {
      lines.insert(Array("HTTP/1.1 200 OK\r\n".utf8)[...], at: 0)
    }
    lines.append(Array("\r\n".utf8)[...])
    for line in lines {
      let step = line.withUnsafeBytes { parser.take($0) }
      if case .finished(let head) = step { return head }
    }
    return nil
  }
}

extension String {
  /// Whether it contains control characters, which could corrupt a terminal, a log or a header.
  var hasControls: Bool { unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F } }
}
