import FoundationEssentials
import Glibc

@testable import TransferAPI
@testable import WireValues
@testable import transferctl

extension FuzzCase {
  /// The lists of `transferctl add`.
  static let lists = [aria2List, csvList, checksumList, glob, outputPath]

  /// An aria2 input file.
  private static let aria2List = FuzzCase("aria2-list") { bytes in
    var entries = Aria2Entries()
    var found: [Aria2Entry] = []
    for (index, line) in bytes.split(separator: 10, omittingEmptySubsequences: false).enumerated() {
      guard let text = String(validating: line, as: UTF8.self) else { continue }
      if let entry = try? entries.push(text, line: index + 1) { found.append(entry) }
    }
    if let entry = entries.finish() { found.append(entry) }
    var last = 0
    for entry in found {
      try require(entry.line > last, "line \(entry.line) comes after line \(last)")
      last = entry.options.last?.line ?? entry.line
      try require(entry.options.allSatisfy { $0.line > entry.line || entry.uris.isEmpty }, "an option before its URI")
      try require(entry.options.count <= Aria2Entries.maximumOptions, "more options than allowed")
      if let fields = try? entry.fields() { try check(fields) }
    }
  }

  /// A CSV file with a header, in one piece and in small pieces.
  private static let csvList = FuzzCase("csv-list") { bytes in
    let (whole, pieces) = (records(bytes, piece: max(1, bytes.count)), records(bytes, piece: 7))
    try require(whole.records == pieces.records && whole.fault == pieces.fault, "small pieces give other records")
    try require(whole.fault?.isEmpty != true, "an error without words")
    var last = 0
    for record in whole.records {
      try require(record.line > last && !record.fields.isEmpty, "line \(record.line) comes after line \(last)")
      last = record.line
      if whole.fault == nil { try check(record) }
    }
    guard let header = whole.records.first, let columns = try? CSVColumns(header.fields) else { return }
    for record in whole.records.dropFirst() {
      if let fields = try? columns.fields(of: record) { try check(fields) }
    }
  }

  private static func records(_ bytes: [UInt8], piece: Int) -> (records: [CSVParser.Record], fault: String?) {
    var parser = CSVParser()
    var records: [CSVParser.Record] = []
    var rest = bytes[...]
    do {
      while !rest.isEmpty {
        try parser.push(rest.prefix(piece)) { records.append($0) }
        rest = rest.dropFirst(piece)
      }
      if let record = try parser.finish() { records.append(record) }
      return (records, nil)
    } catch {
      return (records, "\(error)")
    }
  }

  /// A record that is written again is read as the same.
  private static func check(_ record: CSVParser.Record) throws {
    let text = record.fields.map { field in
      Array("\"".utf8) + field.flatMap { $0 == UInt8(ascii: "\"") ? [$0, $0] : [$0] } + Array("\"".utf8)
    }
    // An empty record in quotes is a blank line when its quotes are left out.
    guard record.fields != [[]] else { return }
    let again = records(Array(text.joined(separator: [UInt8(ascii: ",")])), piece: 4096).records
    try require(again.map(\.fields) == [record.fields], "a record is read as another one")
  }

  /// The path below the directory.
  private static func check(_ fields: JobFields) throws {
    guard let output = fields.output else { return }
    try require(!output.isAbsolutePath && !output.componentsOfPath.contains(".."), "\(output) leaves the directory")
  }

  /// A file of checksums.
  private static let checksumList = FuzzCase("checksum-list") { bytes in
    let list: ChecksumList
    do throws(WireError) {
      list = try ChecksumList(bytes, source: "SUMS")
    } catch {
      return try require(error.description.hasPrefix("SUMS"), "\(error) does not name the file")
    }
    try require(list.count > 0, "an empty list")
    let checksum = list[url: "http://h/" + String(repeating: "a/", count: 100)]
    try require(checksum.map { (try? Checksum(parsing: $0.description)) == $0 } ?? true, "an unusable checksum")
  }

  /// A URL with ranges and lists.
  private static let glob = FuzzCase("glob") { bytes in
    guard let glob = try? URLGlob(parsing: Input(bytes).text) else { return }
    try require((1...URLGlob.maximumCount).contains(glob.count), "\(glob.count) URLs")
    let indices = [0, glob.count / 2, glob.count - 1]
    let urls = indices.map { glob.url(at: $0) }
    for url in urls { try require(url.utf8.count <= bytes.count * 4 + 20, "a URL longer than its glob allows") }
  }

  /// A template for `-o` in the first line, and a URL.
  private static let outputPath = FuzzCase("output-path") { bytes in
    var input = Input(bytes)
    guard let template = try? OutputTemplate(parsing: input.line()) else { return }
    let path = template.expanded(for: input.text, number: 3)
    guard !template.isConstant else { return }
    try require(!path.isEmpty && !path.isAbsolutePath && !path.hasTrailingSlash, "\(path) is no path below a directory")
    for component in path.componentsOfPath {
      try require(
        component != ".." && component.utf8.count <= 255 && !component.utf8.contains(0), "\(path) is not safe")
    }
  }
}
