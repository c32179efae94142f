// checked file: positions are indices of a line in memory

import ArgumentParser
import Glibc
import TransferAPI

/// `--input-format`: what the lines of `-i` are.
enum InputFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
  /// Decided by the content.
  case auto
  case urls
  /// JSON objects. What `auto` finds may have lines with URLs among them.
  case jsonl
  case aria2
  case csv

  /// Decides by the content of a list. What was read as URLs or JSON before there were other formats still is: CSV begins with
  /// a header, which is no URL, and aria2's files have indented options or URLs that TABs separate, which no URL can have.
  /// - Parameter hasGlobs: whether a line may begin with a brace that is not JSON.
  /// - Throws: `CommandFailure` for a file that cannot be read.
  static func decided(by file: ListFile, hasGlobs: Bool) throws -> InputFormat {
    var content = ListContent(hasGlobs: hasGlobs)
    var reader = file.reader()
    while let piece = try reader.next() {
      piece.withUnsafeBytes { content.read($0) }
      if content.isCSV { return .csv }
    }
    return content.hasJSON ? .jsonl : content.isAria2 ? .aria2 : .urls
  }
}

/// What the lines of a list show about its format. Pure.
struct ListContent {
  let hasGlobs: Bool
  private(set) var isCSV = false
  private(set) var hasJSON = false
  private(set) var isAria2 = false
  private var isFirst = true

  init(hasGlobs: Bool) { self.hasGlobs = hasGlobs }

  /// - Parameter bytes: whole lines.
  mutating func read(_ bytes: UnsafeRawBufferPointer) {
    URLList.eachLine(of: bytes) { line in
      guard let content = URLList.plain(line), let first = content.first else { return }
      if isFirst {
        isFirst = false
        isCSV = Self.isHeader(content)
      }
      if Self.isJSON(content, hasGlobs: hasGlobs) {
        hasJSON = true
      } else if first != UInt8(ascii: "#"), !isAria2 {
        isAria2 = Self.isOption(line, content) || Self.areMirrors(content)
      }
    }
  }

  /// Whether a line is a JSON object, or a bad try of one. With globs, a brace may also begin a list.
  static func isJSON(_ line: UnsafeRawBufferPointer, hasGlobs: Bool) -> Bool {
    guard line.first == UInt8(ascii: "{") else { return false }
    guard hasGlobs else { return true }
    let second = line.dropFirst().first { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
    return second == nil || second == UInt8(ascii: "\"") || second == UInt8(ascii: "}")
  }

  /// Whether one of several fields, or the only one, is called `url` or `source`.
  private static func isHeader(_ line: UnsafeRawBufferPointer) -> Bool {
    guard line.count <= 4096 else { return false }
    return line.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).contains { field in
      let name = field.filter { $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: " ") }
      return name.elementsEqual("url".utf8) || name.elementsEqual("source".utf8)
    }
  }

  /// `  out=NAME`
  private static func isOption(_ line: UnsafeRawBufferPointer, _ content: UnsafeRawBufferPointer) -> Bool {
    guard line.first == UInt8(ascii: " ") || line.first == UInt8(ascii: "\t") else { return false }
    let name = content.prefix { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || $0 == UInt8(ascii: "-") }
    return !name.isEmpty && name.count < content.count && content[name.endIndex] == UInt8(ascii: "=")
  }

  /// Several URLs with TABs between them.
  private static func areMirrors(_ line: UnsafeRawBufferPointer) -> Bool {
    guard let start = line.baseAddress, memchr(start, 9, line.count) != nil else { return false }
    let words = line.split(separator: 9)
    return words.count > 1 && words.allSatisfy { String(decoding: $0, as: UTF8.self).contains("://") }
  }
}
