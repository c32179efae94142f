/// JSON of any shape, as a value. Replaces the `Any` of `JSONSerialization`.
public enum JSONValue: Sendable, Hashable {
  /// `null`
  case null
  /// `true` or `false`.
  case bool(Bool)
  /// A whole number that fits: `1`, and also `1.0` and `1e3`.
  case integer(Int64)
  /// Any other number, with the precision of a `Double`.
  case number(Double)
  /// Text.
  case string(String)
  /// An array.
  case array([JSONValue])
  /// An object. If a name occurs twice, the last one counts.
  case object([String: JSONValue])
}

extension JSONValue {
  /// Whether it is `null`.
  public var isNull: Bool { self == .null }

  /// The Bool; `nil` for everything else, including numbers.
  public var boolValue: Bool? { if case .bool(let value) = self { value } else { nil } }

  /// The number, if it is whole and fits into 64 bits.
  public var integerValue: Int64? { if case .integer(let value) = self { value } else { nil } }

  /// The value of any number.
  public var doubleValue: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .number(let value): value
    default: nil
    }
  }

  /// The text; `nil` for everything else.
  public var stringValue: String? { if case .string(let value) = self { value } else { nil } }

  /// The items; `nil` for everything else.
  public var arrayValue: [JSONValue]? { if case .array(let value) = self { value } else { nil } }

  /// The members; `nil` for everything else.
  public var objectValue: [String: JSONValue]? { if case .object(let value) = self { value } else { nil } }

  /// `nil` if this is not an object, or has no such member.
  public subscript(key: String) -> JSONValue? { objectValue?[key] }

  /// `nil` if this is not an array, or is shorter.
  public subscript(index: Int) -> JSONValue? {
    arrayValue.flatMap { $0.indices.contains(index) ? $0[index] : nil }
  }
}

extension JSONValue: Codable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode(Int64.self) {
      self = .integer(value)
    } else if let value = try? container.decode(Double.self) {
      // A fraction beyond the precision of a Double leaves a whole number.
      self = Int64(exactly: value).map { .integer($0) } ?? .number(value)
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if container.decodeNil() {
      self = .null
    } else if let keyed = try? decoder.container(keyedBy: AnyKey.self) {
      var members: [String: JSONValue] = [:]
      for key in keyed.allKeys { members[key.stringValue] = try keyed.decode(JSONValue.self, forKey: key) }
      self = .object(members)
    } else {
      var items = try decoder.unkeyedContainer()
      var values: [JSONValue] = []
      while !items.isAtEnd { values.append(try items.decode(JSONValue.self)) }
      self = .array(values)
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .array(let value): try container.encode(value)
    case .object(let value): try container.encode(value)
    }
  }
}

// There is no nil literal: `value["name"] == nil` must mean that there is no such member.
extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  public init(stringLiteral value: String) { self = .string(value) }
  public init(integerLiteral value: Int64) { self = .integer(value) }
  public init(floatLiteral value: Double) { self = .number(value) }
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }

  /// If a name occurs twice, the last one counts.
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(Dictionary(elements) { _, last in last })
  }
}
