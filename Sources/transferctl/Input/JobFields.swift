import FoundationEssentials
import TransferAPI
import WireValues

/// The fields of a job as texts, from a row of CSV or an entry of an aria2 file, on the way to the JSON object that a line of
/// `-i` could have been.
struct JobFields: Encodable {
  private enum Value: Encodable {
    case flag(Bool)
    case number(Int)
    case text(String)
    case numbers([Int])
    case texts([String])
    case fields([String: String])

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      switch self {
      case .flag(let value): try container.encode(value)
      case .number(let value): try container.encode(value)
      case .text(let value): try container.encode(value)
      case .numbers(let values): try container.encode(values)
      case .texts(let values): try container.encode(values)
      case .fields(let values): try container.encode(values)
      }
    }
  }

  private var values: [String: Value] = [:]
  /// A name or a path below the directory, as for `-o`; never a template.
  private(set) var output: String?

  /// The fields of a job besides its options.
  private static let ownForms: [String: OptionForm] = [
    "source": .text, "destination": .text, "thenUpload": .text, "directory": .text, "batch": .text, "key": .text,
    "priority": .number,
    "paused": .flag,
  ]

  /// How a field of a download is written; `nil` if there is none with this name.
  static func form(of name: String) -> OptionForm? {
    if let form = ownForms[name] { return form }
    return JobOptions.uploadNames.contains(name) ? nil : JobOptions.forms[name]
  }

  mutating func set(output: String) throws(WireError) {
    try Syntax.check(outputName: output, of: "out")
    guard !output.isAbsolutePath else {
      throw WireError("out must be a path below the directory, not \(output); use dir")
    }
    self.output = output
  }

  mutating func set(_ name: String, number: Int) { values[name] = .number(number) }
  mutating func set(_ name: String, texts: [String]) { values[name] = .texts(texts) }
  mutating func set(_ name: String, flag: Bool) { values[name] = .flag(flag) }

  /// Adds `Name: value` to the fields of an object.
  mutating func add(header: String, to name: String = "headers") throws(WireError) {
    let (field, value) = try Syntax.header(header)
    var fields: [String: String] = [:]
    if case .fields(let known) = values[name] { fields = known }
    guard !fields.keys.contains(where: { $0.lowercased() == field.lowercased() }) else {
      throw WireError("the header \(field) is given twice")
    }
    fields[field] = value
    values[name] = .fields(fields)
  }

  /// Sets a field from a text: flags are `true` or `false`, items of arrays are separated by blanks, header fields by new lines.
  /// - Throws: `WireError` that names the field, for a text that it cannot have.
  mutating func set(_ name: String, _ text: String) throws(WireError) {
    do throws(WireError) {
      try setValue(name, text)
    } catch {
      throw error.about(name)
    }
  }

  private mutating func setValue(_ name: String, _ text: String) throws(WireError) {
    switch Self.form(of: name) {
    case .flag: values[name] = .flag(try Self.flag(text, name))
    case .number: values[name] = .number(try Self.number(text, name))
    case .time: values[name] = .text(WireCoding.rfc3339(try StartTime.date(text)))
    case .text: values[name] = .text(text)
    case .numbers:
      var numbers: [Int] = []
      for word in text.split(atASCII: " ,") { numbers.append(try Self.number(String(word), name)) }
      values[name] = .numbers(numbers)
    case .texts: values[name] = .texts(text.split(atASCII: " \n\r").map(String.init))
    case .fields: for line in text.split(atASCII: "\n\r") { try add(header: String(line), to: name) }
    case nil: throw WireError("unknown field \"\(name)\"")
    }
  }

  /// - Throws: `WireError` that names the field.
  static func flag(_ text: String, _ name: String) throws(WireError) -> Bool {
    switch text.lowercased() {
    case "true", "yes", "1": true
    case "false", "no", "0": false
    default: throw WireError(text: "\(field: name) is true or false, not \"\(text.printable)\"")
    }
  }

  private static func number(_ text: String, _ name: String) throws(WireError) -> Int {
    guard let number = Int(text) else {
      throw WireError(text: "\(field: name) is a number, not \"\(text.printable)\"")
    }
    return number
  }

  func encode(to encoder: any Encoder) throws {
    var values = values
    if let output {
      guard values["destination"] == nil else { throw WireError("out and destination cannot be combined") }
      if case .text(let directory) = values["directory"] {
        values["directory"] = nil
        values["destination"] = .text(directory.appendingName(output))
      } else {
        values["destination"] = .text(output)
      }
    }
    try values.encode(to: encoder)
  }

  /// The JSON object with these fields.
  func json(_ encoder: JSONEncoder) throws -> Data { try encoder.encode(self) }
}
