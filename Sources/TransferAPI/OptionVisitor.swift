/// Goes through the options of a job. Each option is named once, with its name in JSON and its default value.
protocol OptionVisitor {
  mutating func option<Value: Codable & Equatable & Sendable>(
    _ name: String, _ value: inout Value, default standard: Value) throws
  /// A URL, which may hold userinfo and secret query items.
  mutating func url(_ name: String, _ value: inout String?) throws
  /// URLs, which may hold userinfo and secret query items.
  mutating func urls(_ name: String, _ value: inout [String]) throws
  /// Header fields, of which some may hold secrets.
  mutating func headers(_ name: String, _ value: inout [String: String]) throws
  /// Fields of a form, of which some may hold secrets.
  mutating func form(_ name: String, _ value: inout [FormField]) throws
}

extension OptionVisitor {
  mutating func url(_ name: String, _ value: inout String?) throws { try option(name, &value, default: nil) }
  mutating func urls(_ name: String, _ value: inout [String]) throws { try option(name, &value, default: []) }
  mutating func headers(_ name: String, _ value: inout [String: String]) throws { try map(name, &value) }
  mutating func form(_ name: String, _ value: inout [FormField]) throws { try option(name, &value, default: []) }

  /// An object whose fields the caller names.
  mutating func map<Value: Codable & Equatable & Sendable>(_ name: String, _ value: inout [String: Value]) throws {
    var field = MapField(value)
    try option(name, &field, default: MapField([:]))
    value = field.value
  }

  /// Bytes per second, which clients may write as `1M`.
  mutating func rate(_ name: String, _ value: inout Int64?) throws { try quantity(ByteRate.self, name, &value) }

  /// Bytes, which clients may write as `1M`.
  mutating func size(_ name: String, _ value: inout Int64?) throws { try quantity(ByteSize.self, name, &value) }

  /// Seconds, which clients may write as `5m`.
  mutating func seconds(_ name: String, _ value: inout Double?) throws { try quantity(TimeSpan.self, name, &value) }

  private mutating func quantity<Amount: Quantity>(
    _ type: Amount.Type, _ name: String, _ value: inout Amount.Number?
  ) throws {
    var field = value.map { QuantityField<Amount>($0) }
    try option(name, &field, default: nil)
    value = field?.value
  }

  /// One of a few words.
  mutating func word<Word: OptionWord>(_ name: String, _ value: inout Word, default standard: Word) throws {
    var field = WordField(value: value)
    try option(name, &field, default: WordField(value: standard))
    value = field.value
  }

  mutating func word<Word: OptionWord>(_ name: String, _ value: inout Word?, default standard: Word?) throws {
    var field = value.map(WordField.init)
    try option(name, &field, default: standard.map(WordField.init))
    value = field?.value
  }
}

typealias OptionWord = RawRepresentable<String> & CaseIterable & Equatable & Sendable

extension JobOptions {
  mutating func visit(_ visitor: inout some OptionVisitor) throws {
    try visitShared(&visitor)
    try s3.visit(&visitor)
    try download.visit(&visitor)
    try listing.visit(&visitor)
    try upload.visit(&visitor)
    try relay.visit(&visitor)
  }
}

/// The name of an option in JSON.
struct OptionName: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }
  init(_ name: String) { stringValue = name }
  init?(stringValue: String) { self.init(stringValue) }
  init?(intValue: Int) { nil }
}

/// Marks the type of an option that is an object in JSON.
protocol OptionMap {}

/// An option in the form in which clients write it. It is encoded as its value.
private protocol OptionField: Codable, Equatable, Sendable {
  associatedtype Written: Encodable
  var value: Written { get }
}

extension OptionField {
  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(value)
  }
}

/// Decoded in the order of the names, because a dictionary's order changes: the same input is refused for the same reason
/// each time.
private struct MapField<Value: Codable & Equatable & Sendable>: OptionField, OptionMap {
  let value: [String: Value]
  init(_ value: [String: Value]) { self.value = value }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: OptionName.self)
    var value: [String: Value] = [:]
    for key in container.allKeys.sorted(by: { $0.stringValue < $1.stringValue }) {
      value[key.stringValue] = try container.decode(Value.self, forKey: key)
    }
    self.value = value
  }
}

/// The number of an amount, as an option holds it.
private struct QuantityField<Amount: Quantity>: OptionField {
  let value: Amount.Number
  init(_ value: Amount.Number) { self.value = value }
  init(from decoder: any Decoder) throws { value = try Amount(from: decoder).number }
}

private struct WordField<Word: OptionWord>: Codable, Equatable, Sendable {
  let value: Word
  init(value: Word) { self.value = value }

  /// - Throws: `WireError` that names the option and the words.
  init(from decoder: any Decoder) throws {
    let text = try decoder.singleValueContainer().decode(String.self)
    guard let value = Word(rawValue: text) else {
      let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
      let name = decoder.codingPath.last?.stringValue ?? ""
      throw WireError(text: "\(field: name) \"\(text)\" is not one of \(words)")
    }
    self.value = value
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(value.rawValue)
  }
}
