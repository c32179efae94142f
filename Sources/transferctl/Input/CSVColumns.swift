import FoundationEssentials
import TransferAPI
import WireValues

/// The header of a CSV list: what each column is. Columns have the names of the fields in JSON or of the options.
struct CSVColumns: Equatable, Sendable {
  private enum Column: Equatable, Sendable {
    case output
    case field(String)
    /// `--retries`, one less than the attempts.
    case retries
    /// `--http1.1`
    case http1
  }

  private let columns: [Column]
  private let names: [String]

  /// - Throws: `WireError` for an unknown or repeated column, and if there is no URL.
  init(_ header: [[UInt8]]) throws(WireError) {
    var (columns, names): ([Column], [String]) = ([], [])
    for bytes in header {
      let name = String(String(decoding: bytes, as: UTF8.self).trimmingBlanks())
      guard let column = Self.column(name) else {
        throw WireError("unknown column \"\(name.printable)\"; use url, out, dir and the names of options")
      }
      guard !columns.contains(column) else { throw WireError("the column \"\(name)\" is given twice") }
      columns.append(column)
      names.append(name)
    }
    guard columns.contains(.field("source")) else { throw WireError("has no column \"url\"") }
    self.columns = columns
    self.names = names
  }

  private static func column(_ name: String) -> Column? {
    switch name {
    case "url", "source": return .field("source")
    case "out", "output": return .output
    case "dir": return .field("directory")
    case "header": return .field("headers")
    case "secret-header": return .field("secretHeaders")
    case "create-dirs": return .field("createDirectories")
    case "remote-header-name": return .field("nameFromResponse")
    case "retries": return .retries
    case "http1.1": return .http1
    default:
      if JobFields.form(of: name) != nil { return .field(name) }
      let camel = camelCase(name)
      return name.contains("-") && JobFields.form(of: camel) != nil ? .field(camel) : nil
    }
  }

  /// The names of the columns, by those of their fields in JSON.
  var namesOfFields: [String: String] {
    var result: [String: String] = [:]
    for (column, name) in zip(columns, names) {
      switch column {
      case .output: result["destination"] = name
      case .field(let field): result[field] = name
      case .retries: result["maxAttempts"] = name
      case .http1: result["httpVersion"] = name
      }
    }
    return result
  }

  /// `limit-rate` → `limitRate`
  private static func camelCase(_ name: String) -> String {
    let words = name.split(separator: "-", omittingEmptySubsequences: false)
    return words.prefix(1).joined() + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
  }

  /// The fields of a row. Empty fields are not set.
  /// - Throws: `WireError`
  func fields(of record: CSVParser.Record) throws(WireError) -> JobFields {
    guard record.fields.count == columns.count else {
      throw WireError("has \(record.fields.count) fields, but the header has \(columns.count)")
    }
    var fields = JobFields()
    for (index, bytes) in record.fields.enumerated() where !bytes.isEmpty {
      guard !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self) else {
        throw WireError("the column \"\(names[index])\" is not valid UTF-8 or has a NUL byte")
      }
      switch columns[index] {
      case .output: try fields.set(output: text)
      case .field("source"): try fields.set("source", String(text.trimmingBlanks()))
      case .field(let name): try fields.set(name, text)
      case .retries:
        guard let retries = Int(text), (0...JobOptions.maximumAttempts).contains(retries) else {
          throw WireError("retries is a number from 0 to \(JobOptions.maximumAttempts)")
        }
        fields.set("maxAttempts", number: retries + 1)
      case .http1:
        if try JobFields.flag(text, names[index]) { try fields.set("httpVersion", "1.1") }
      }
    }
    return fields
  }
}
