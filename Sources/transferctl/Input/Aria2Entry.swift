import TransferAPI
import WireValues

/// A download of an aria2 input file (aria2c(1), "Input File"): a line of URIs, and the indented lines of its options.
struct Aria2Entry: Equatable, Sendable {
  struct Option: Equatable, Sendable {
    let line: Int
    let name: String
    let value: String
  }

  let line: Int
  /// URIs of one file, which TABs separate.
  let uris: [String]
  var options: [Option] = []

  /// An option that cannot be used, with its line.
  struct OptionError: Error {
    let line: Int
    let error: WireError
  }

  /// The fields of the job.
  /// - Throws: `WireError`, or `OptionError` for an option.
  func fields() throws -> JobFields {
    var fields = JobFields()
    try Self.set(uris, in: &fields)
    var seen: Set<String> = []
    for option in options {
      do throws(WireError) {
        guard seen.insert(option.name).inserted || option.name == "header" else {
          throw WireError("the option \(option.name) is given twice")
        }
        try Self.set(option, in: &fields)
      } catch {
        throw OptionError(line: option.line, error: error)
      }
    }
    return fields
  }

  /// Several URIs are sources of the same file.
  private static func set(_ uris: [String], in fields: inout JobFields) throws(WireError) {
    guard let first = uris.first else { throw WireError("has an option, but no URI before it") }
    try fields.set("source", first)
    let mirrors = Array(uris.dropFirst())
    guard !mirrors.isEmpty else { return }
    guard JobFields.form(of: "mirrors") != nil else {
      throw WireError("has several URIs of one file, but mirrors are not supported; keep one of them")
    }
    for mirror in mirrors { try Syntax.check(url: mirror) }
    fields.set("mirrors", texts: mirrors)
  }

  /// The number of connections: one is what a download has without the option.
  private static func set(connections text: String, in fields: inout JobFields) throws(WireError) {
    guard let number = Int(text), number >= 1 else { throw WireError("split is a number of 1 or more") }
    if JobFields.form(of: "segments") != nil {
      fields.set("segments", number: number)
    } else if number > 1 {
      throw WireError("the option split=\(number) is not supported: a file is fetched over one connection")
    }
  }

  private static func set(_ option: Option, in fields: inout JobFields) throws(WireError) {
    let value = option.value
    switch option.name {
    case "out": try fields.set(output: value)
    case "header": try fields.add(header: value)
    case "split": try set(connections: value, in: &fields)
    // 0: no limit, or no end of the attempts.
    case "max-download-limit" where value == "0": break
    case "max-tries" where value == "0": fields.set("maxAttempts", number: JobOptions.maximumAttempts)
    case "check-certificate":
      guard ["true", "false"].contains(value) else { throw WireError("check-certificate is true or false") }
      fields.set("insecure", flag: value == "false")
    default:
      guard let name = names[option.name] else {
        throw WireError("the option \(option.name.printable) of aria2 is not supported; remove it")
      }
      guard !value.isEmpty else { throw WireError("the option \(option.name) is empty") }
      try fields.set(name, value)
    }
  }

  /// Options of aria2 whose values have the same meaning here.
  private static let names = [
    "dir": "directory", "checksum": "checksum", "referer": "referer", "user-agent": "userAgent",
    "max-download-limit": "limitRate", "max-tries": "maxAttempts", "connect-timeout": "connectTimeout",
    "all-proxy": "proxy", "load-cookies": "cookies", "ca-certificate": "ca", "certificate": "cert",
    "private-key": "certKey", "allow-overwrite": "replace", "remote-time": "remoteTime", "pause": "paused",
  ]

  /// The names of options, by those of their fields in JSON.
  static let namesOfFields = [
    "destination": "out", "headers": "header", "segments": "split", "insecure": "check-certificate",
  ].merging(names.map { ($0.value, $0.key) }) { first, _ in first }
}

/// Collects the entries of an aria2 input file from its lines.
struct Aria2Entries {
  /// More options than aria2 has.
  static let maximumOptions = 1000

  private var entry: Aria2Entry?

  /// - Parameter text: the line without its end.
  /// - Returns: the entry before this line, if the line begins another one.
  /// - Throws: `WireError` for a line that is no option. It belongs to no entry.
  mutating func push(_ text: String, line: Int) throws(WireError) -> Aria2Entry? {
    let whole = text.utf8.last == 13 ? text[..<text.utf8.index(before: text.utf8.endIndex)] : text[...]
    let content = whole.trimmingBlanks()
    guard let first = text.utf8.first, !content.isEmpty, first != UInt8(ascii: "#") else { return nil }
    guard first == UInt8(ascii: " ") || first == UInt8(ascii: "\t") else {
      let uris = content.split(atASCII: "\t").map { String($0.trimmingBlanks()) }.filter { !$0.isEmpty }
      defer { entry = Aria2Entry(line: line, uris: uris) }
      return entry
    }
    guard let equals = content.firstIndex(ofASCII: "="), equals > content.startIndex else {
      throw WireError("is indented, but no option like out=NAME")
    }
    let option = Aria2Entry.Option(
      line: line, name: String(content[..<equals].trimmingBlanks()),
      value: String(content.suffix(after: equals).trimmingBlanks()))
    guard entry?.options.count ?? 0 < Self.maximumOptions else {
      throw WireError("is one of more than \(Self.maximumOptions) options of one download")
    }
    if entry == nil { entry = Aria2Entry(line: line, uris: []) }
    entry?.options.append(option)
    return nil
  }

  /// The last entry.
  mutating func finish() -> Aria2Entry? {
    defer { entry = nil }
    return entry
  }
}
