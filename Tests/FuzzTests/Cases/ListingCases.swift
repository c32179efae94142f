import WireValues

@testable import TransferEngine

/// Lists of directories, as servers send them, and patterns for paths.
extension FuzzCase {
  static let listings = [htmlIndex, longList, machineList, xmlList, pathGlob]

  private static let htmlIndex = FuzzCase("html-index") { bytes in try check(bytes, HTMLIndexParser()) }
  private static let longList = FuzzCase("long-list") { bytes in
    try check(bytes, LineListParser { LongListLine.item($0) })
  }
  private static let machineList = FuzzCase("machine-list") { bytes in
    try check(bytes, LineListParser { MachineListLine.item($0) })
  }

  /// The first byte chooses the form.
  private static let xmlList = FuzzCase("xml-list") { bytes in
    let form: XMLListParser.Form = bytes.first == UInt8(ascii: "b") ? .bucket : .multistatus
    let rest = Array(bytes.dropFirst())
    // A document that cannot be read is an error, the same one for every size of pieces.
    let (whole, parts) = (try? items(rest, XMLListParser(form), .max), try? items(rest, XMLListParser(form), 3))
    try require(whole == parts, "pieces change the entries")
    for item in whole ?? [] { try check(item) }
  }

  private static func items(
    _ bytes: [UInt8], _ parser: some ListingParser, _ size: Int
  ) throws -> [ListedItem] {
    var parser = parser
    var items: [ListedItem] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      try parser.read(rest.prefix(size)) { items.append($0) }
      rest = rest.dropFirst(size)
    }
    try parser.finish { items.append($0) }
    return items
  }

  private static func check(_ bytes: [UInt8], _ parser: some ListingParser) throws {
    let whole = try items(bytes, parser, .max)
    try require(whole == (try items(bytes, parser, 3)), "pieces change the entries")
    for item in whole { try check(item) }
  }

  /// Whatever a server says, an entry is below its directory.
  private static func check(_ item: ListedItem) throws {
    for directory in ["http://h.test/d/", "s3://b/p/", "sftp://h.test/d/"] {
      guard let url = try? RequestURL(allowingS3: directory) else { continue }
      guard case .entry(let entry) = EntryRule(directory: url).verdict(on: item) else { continue }
      let names = entry.path.split(atASCII: "/", keepsEmpty: true)
      try require(
        names.allSatisfy { !$0.isEmpty && $0 != "." && $0 != ".." && $0.utf8.count <= 255 }, "a name that leaves")
      try require(!entry.path.hasControls, "control characters")
      try require(entry.url.origin == url.origin && entry.url.path.hasPrefix(url.path), "\(entry.url) is elsewhere")
      try require(!entry.url.string.contains("?"), "a query")
      try require(directory.hasPrefix("s3") || names.count == 1, "more than a direct member")
    }
  }

  /// A pattern and a path, each a line.
  private static let pathGlob = FuzzCase("path-glob", maximumLength: 512) { bytes in
    var input = Input(bytes)
    let (text, path) = (input.line(), input.line())
    guard let glob = try? PathGlob(text) else { return }
    let isMatch = glob.matches(path)
    try require(glob == (try PathGlob(glob.description)), "another pattern")
    if !text.utf8.contains(where: { "*?[\\/".utf8.contains($0) }) {
      try require(isMatch == (path.baseName.unicodeScalars.elementsEqual(text.unicodeScalars)), "a plain name")
    }
    let everything = try PathGlob("**")
    try require(everything.matches(path), "** does not match")
  }
}
