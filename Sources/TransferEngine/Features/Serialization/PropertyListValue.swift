public import FoundationEssentials

/// A property list of any shape, as a value.
public enum PropertyListValue: Sendable, Hashable {
  /// `true` or `false`.
  case bool(Bool)
  /// A whole number that fits; `<real>1</real>` is one too.
  case integer(Int64)
  /// A number with a fraction.
  case real(Double)
  /// Text.
  case string(String)
  /// A moment.
  case date(Date)
  /// Bytes.
  case data(Data)
  /// An array.
  case array([PropertyListValue])
  /// A dictionary.
  case dictionary([String: PropertyListValue])
}

extension PropertyListValue {
  /// `nil` if this is not a dictionary, or has no such key.
  public subscript(key: String) -> PropertyListValue? {
    if case .dictionary(let entries) = self { entries[key] } else { nil }
  }

  /// `nil` if this is not an array, or is shorter.
  public subscript(index: Int) -> PropertyListValue? {
    if case .array(let items) = self, items.indices.contains(index) { items[index] } else { nil }
  }
}

extension PropertyListValue: Codable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Int64.self) {
      self = .integer(value)
    } else if let value = try? container.decode(Double.self) {
      self = .real(value)
    } else if let value = try? container.decode(Date.self) {
      self = .date(value)
    } else if let value = try? container.decode(Data.self) {
      self = .data(value)
    } else if let keyed = try? decoder.container(keyedBy: AnyKey.self) {
      var entries: [String: PropertyListValue] = [:]
      for key in keyed.allKeys { entries[key.stringValue] = try keyed.decode(PropertyListValue.self, forKey: key) }
      self = .dictionary(entries)
    } else {
      var items = try decoder.unkeyedContainer()
      var values: [PropertyListValue] = []
      while !items.isAtEnd { values.append(try items.decode(PropertyListValue.self)) }
      self = .array(values)
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .bool(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .real(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .date(let value): try container.encode(value)
    case .data(let value): try container.encode(value)
    case .array(let value): try container.encode(value)
    case .dictionary(let value): try container.encode(value)
    }
  }
}
