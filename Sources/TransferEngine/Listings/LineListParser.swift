/// Reads a directory that is sent as lines: by FTP, and by SFTP in libcurl's form.
struct LineListParser: ListingParser {
  /// A longer line is passed over. File systems have names of 255 bytes.
  static let maximumLineBytes = 8 << 10

  /// What a line says; `nil`: it names no entry.
  private let item: @Sendable (ArraySlice<UInt8>) -> ListedItem?
  private var line: [UInt8] = []
  private var isTooLong = false

  init(_ item: @escaping @Sendable (ArraySlice<UInt8>) -> ListedItem?) { self.item = item }

  mutating func read(_ bytes: some Collection<UInt8>, _ report: (ListedItem) -> Void) {
    for byte in bytes {
      if byte == UInt8(ascii: "\n") {
        endLine(report)
      } else if line.count < Self.maximumLineBytes {
        line.append(byte)
      } else {
        isTooLong = true
      }
    }
  }

  mutating func finish(_ report: (ListedItem) -> Void) { endLine(report) }

  private mutating func endLine(_ report: (ListedItem) -> Void) {
    defer {
      line.removeAll(keepingCapacity: true)
      isTooLong = false
    }
    if isTooLong { return report(.unusable) }
    var text = line[...]
    if text.last == UInt8(ascii: "\r") { text = text.dropLast() }
    guard !text.isEmpty else { return }
    if let item = item(text) { report(item) }
  }
}

/// Lines of `MLSD` (RFC 3659 §7.2): `type=file;size=12; name`.
enum MachineListLine {
  static func item(_ line: ArraySlice<UInt8>) -> ListedItem? {
    guard let end = line.firstIndex(of: UInt8(ascii: " ")) else { return .unusable }
    let name = line[end...].dropFirst()
    guard !name.isEmpty else { return .unusable }
    for fact in line[..<end].split(separator: UInt8(ascii: ";")) {
      let text = String(decoding: fact, as: UTF8.self).lowercased()
      guard text.hasPrefix("type=") else { continue }
      switch text.dropFirst("type=".count) {
      case "file": return .name(Array(name), isDirectory: false)
      case "dir": return .name(Array(name), isDirectory: true)
      // The directory itself, and the one above it.
      case "cdir", "pdir": return nil
      default: return .unusable
      }
    }
    return .unusable
  }
}

/// Lines of `LIST` as most servers write them, and of SFTP: those of `ls -l`, or those of Windows.
///
/// `-rw-r--r-- 1 owner group 12 Jan  1 12:00 name`, `01-31-24  03:04PM  <DIR>  name`
enum LongListLine {
  private static let months: Set<String> = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
  ]

  static func item(_ line: ArraySlice<UInt8>) -> ListedItem? {
    if line.starts(with: "total ".utf8) { return nil }
    guard let first = line.first else { return nil }
    if (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) { return windowsItem(line) }
    switch first {
    case UInt8(ascii: "-"), UInt8(ascii: "d"): break
    // A link may lead anywhere, also back up: it is passed over, like devices and what is unknown.
    default: return .unusable
    }
    guard let name = name(in: line), !name.isEmpty else { return .unusable }
    if name.elementsEqual(".".utf8) || name.elementsEqual("..".utf8) { return nil }
    return .name(Array(name), isDirectory: first == UInt8(ascii: "d"))
  }

  /// What follows the date, which has three words: `Jan 1 12:00`, `Jan 1 2024`, `1 Jan 2024`. The number of words before it
  /// differs, as some servers leave the group out.
  private static func name(in line: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    var rest = line
    var words: [String] = []
    while words.count < 12, let (word, next) = Self.word(rest) {
      words.append(word)
      rest = next
      guard words.count >= 6 else { continue }
      let date = words.suffix(3).map { $0 }
      let isDate = months.contains(date[0].lowercased()) || months.contains(date[1].lowercased())
      guard isDate, isTime(date[2]) else { continue }
      // One blank separates the name, which may begin with others.
      return rest.dropFirst()
    }
    return nil
  }

  /// `12:00` or a year.
  private static func isTime(_ word: String) -> Bool {
    (4...5).contains(word.utf8.count) && word.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: ":")).contains($0) }
  }

  private static func windowsItem(_ line: ArraySlice<UInt8>) -> ListedItem? {
    guard let (_, afterDate) = word(line), let (time, afterTime) = word(afterDate), time.contains(":"),
      let (size, rest) = word(afterTime)
    else { return .unusable }
    let name = rest.drop { $0 == UInt8(ascii: " ") }
    guard !name.isEmpty else { return .unusable }
    if size == "<DIR>" {
      if name.elementsEqual(".".utf8) || name.elementsEqual("..".utf8) { return nil }
      return .name(Array(name), isDirectory: true)
    }
    return size.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains)
      ? .name(Array(name), isDirectory: false) : .unusable
  }

  private static func word(_ line: ArraySlice<UInt8>) -> (String, ArraySlice<UInt8>)? {
    let word = line.drop { $0 == UInt8(ascii: " ") }.prefix { $0 != UInt8(ascii: " ") }
    return word.isEmpty ? nil : (String(decoding: word, as: UTF8.self), line[word.endIndex...])
  }
}
