import FoundationEssentials

/// A parameter of any type, reduced to the kinds that the encodings distinguish.
enum ParameterValue {
  case null
  case bool(Bool)
  case integer(Int64)
  case unsigned(UInt64)
  case float(Float)
  case double(Double)
  case string(String)
  case date(Date)
  case data(Data)
  case array([ParameterValue])
  case dictionary([String: ParameterValue])
  /// Any other value, by its description.
  case other(String, type: String)

  init(_ value: Any) {
    if type(of: value) is AnyClass, let number = Self.number(value) {
      self = number
      return
    }
    switch value {
    case let optional as any OptionalValue: self = optional.content.map(ParameterValue.init) ?? .null
    case let value as Bool: self = .bool(value)
    case let value as String: self = .string(value)
    case let value as any BinaryInteger: self = Self.of(value)
    case let value as Float: self = .float(value)
    case let value as any BinaryFloatingPoint: self = .double(Self.double(value))
    case let value as any StringProtocol: self = .string("\(value)")
    case let value as Date: self = .date(value)
    case let value as Data: self = .data(value)
    case let value as JSONValue: self = Self.of(value)
    case let value as [String: Any]: self = .dictionary(value.mapValues(ParameterValue.init))
    case let value as [Any]: self = .array(value.map(ParameterValue.init))
    default: self = .other("\(value)", type: "\(type(of: value))")
    }
  }

  /// The value of Foundation's `NSNumber`; `nil` for any other object.
  ///
  /// A cast to `Bool` succeeds for every `NSNumber` that is 0 or 1, so it cannot tell numbers from booleans. Foundation
  /// has one object for each of true and false, and `as AnyObject` bridges to it. This file does not import Foundation.
  private static func number(_ value: Any) -> ParameterValue? {
    let object = value as AnyObject
    if object === (true as AnyObject) { return .bool(true) }
    if object === (false as AnyObject) { return .bool(false) }
    if let integer = value as? Int64 { return .integer(integer) }
    if let unsigned = value as? UInt64 { return .unsigned(unsigned) }
    guard let double = value as? Double else { return nil }
    if let float = value as? Float, "\(value)" == "\(float)" { return .float(float) }
    return .double(double)
  }

  private static func of(_ value: some BinaryInteger) -> ParameterValue {
    if let integer = Int64(exactly: value) { return .integer(integer) }
    if let unsigned = UInt64(exactly: value) { return .unsigned(unsigned) }
    return .other("\(value)", type: "\(type(of: value))")
  }

  private static func double(_ value: some BinaryFloatingPoint) -> Double { Double(value) }

  private static func of(_ value: JSONValue) -> ParameterValue {
    switch value {
    case .null: .null
    case .bool(let value): .bool(value)
    case .integer(let value): .integer(value)
    case .number(let value): .double(value)
    case .string(let value): .string(value)
    case .array(let value): .array(value.map(Self.of))
    case .object(let value): .dictionary(value.mapValues(Self.of))
    }
  }

  /// The type of a value that JSON or, with dates and data allowed, a property list cannot contain; `nil` if there is
  /// none.
  func typeUnfit(allowingDatesAndData isPropertyList: Bool) -> String? {
    switch self {
    case .bool, .integer, .unsigned, .float, .double, .string: nil
    case .null: isPropertyList ? "nil" : nil
    case .date: isPropertyList ? nil : "Date"
    case .data: isPropertyList ? nil : "Data"
    case .array(let items): items.lazy.compactMap { $0.typeUnfit(allowingDatesAndData: isPropertyList) }.first
    case .dictionary(let entries):
      entries.values.lazy.compactMap { $0.typeUnfit(allowingDatesAndData: isPropertyList) }.first
    case .other(_, let type): type
    }
  }
}

extension ParameterValue: Encodable {
  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .unsigned(let value): try container.encode(value)
    case .float(let value): try container.encode(value)
    case .double(let value): try container.encode(value)
    case .string(let value), .other(let value, _): try container.encode(value)
    case .date(let value): try container.encode(value)
    case .data(let value): try container.encode(value)
    case .array(let value): try container.encode(value)
    case .dictionary(let value): try container.encode(value)
    }
  }
}

/// Unwraps an optional inside an `Any`.
private protocol OptionalValue {
  var content: Any? { get }
}

extension Optional: OptionalValue {
  fileprivate var content: Any? { self }
}
