import FoundationEssentials

/// The `Encoder` for values. It knows its place in the tree of the form.
struct FormEncoder: Encoder {
  let options: URLEncodedFormEncoder
  let root: FormNode
  let path: [FormKey]

  var codingPath: [any CodingKey] { path.map(\.codingKey) }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(FormKeyedContainer<Key>(encoder: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer { FormUnkeyedContainer(encoder: self) }

  func singleValueContainer() -> any SingleValueEncodingContainer { FormValueContainer(encoder: self) }

  func below(_ key: FormKey) -> FormEncoder { FormEncoder(options: options, root: root, path: path + [key]) }

  func encodeNil() {
    if let text = options.nilEncoding.encode() { root.set(text, at: path) }
  }

  func encode(_ value: any Encodable) throws {
    if let text = try text(of: value) {
      root.set(text, at: path)
    } else {
      try value.encode(to: self)
    }
  }

  /// `nil` for values that encode themselves.
  private func text(of value: any Encodable) throws -> String? {
    switch value {
    case let value as Bool: options.boolEncoding.encode(value: value)
    case let value as String: value
    case let value as any BinaryInteger: "\(value)"
    case let value as Double: "\(value)"
    case let value as Float: "\(value)"
    // Decimal would encode its internal fields.
    case let value as Decimal: "\(value)"
    case let value as Date: try options.dateEncoding.text(of: value)
    case let value as Data: try options.dataEncoding.text(of: value)
    default: nil
    }
  }
}

extension URLEncodedFormEncoder.DateEncoding {
  fileprivate func text(of date: Date) throws -> String? {
    switch self {
    case .deferredToDate: nil
    case .secondsSince1970: "\(date.timeIntervalSince1970)"
    case .millisecondsSince1970: "\(date.timeIntervalSince1970 * 1000)"
    case .iso8601: date.formatted(Date.ISO8601FormatStyle())
    case .custom(let encode): try encode(date)
    }
  }
}

extension URLEncodedFormEncoder.DataEncoding {
  fileprivate func text(of data: Data) throws -> String? {
    switch self {
    case .deferredToData: nil
    case .base64: data.base64EncodedString()
    case .custom(let encode): try encode(data)
    }
  }
}

private struct FormKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let encoder: FormEncoder
  var codingPath: [any CodingKey] { encoder.codingPath }

  private func below(_ key: Key) -> FormEncoder { encoder.below(.name(key.stringValue)) }

  func encodeNil(forKey key: Key) { below(key).encodeNil() }

  func encode<T: Encodable>(_ value: T, forKey key: Key) throws { try below(key).encode(value) }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) -> KeyedEncodingContainer<NestedKey> { below(key).container(keyedBy: type) }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { below(key).unkeyedContainer() }

  /// The fields of a superclass are written beside those of the subclass, as in Alamofire.
  func superEncoder() -> any Encoder { encoder }

  func superEncoder(forKey key: Key) -> any Encoder { below(key) }

  // The standard library's versions leave out nil values without calling the encoder; each has to be replaced, because
  // a generic one would not be used for them.
  func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try present(value, key) }
  func encodeIfPresent(_ value: String?, forKey key: Key) throws { try present(value, key) }
  func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try present(value, key) }
  func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try present(value, key) }
  func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try present(value, key) }
  func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try present(value, key) }
  func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try present(value, key) }
  func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try present(value, key) }
  func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try present(value, key) }
  func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try present(value, key) }
  func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try present(value, key) }
  func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try present(value, key) }
  func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try present(value, key) }
  func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try present(value, key) }
  func encodeIfPresent<T: Encodable>(_ value: T?, forKey key: Key) throws { try present(value, key) }

  private func present(_ value: (any Encodable)?, _ key: Key) throws {
    if let value { try below(key).encode(value) } else { encodeNil(forKey: key) }
  }
}

private struct FormUnkeyedContainer: UnkeyedEncodingContainer {
  let encoder: FormEncoder
  private(set) var count = 0
  var codingPath: [any CodingKey] { encoder.codingPath }

  init(encoder: FormEncoder) { self.encoder = encoder }

  private mutating func next() -> FormEncoder {
    defer { count += 1 }
    return encoder.below(.index(count))
  }

  mutating func encodeNil() {
    if encoder.options.nilEncoding.encode() != nil { next().encodeNil() }
  }

  mutating func encode<T: Encodable>(_ value: T) throws { try next().encode(value) }

  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type
  ) -> KeyedEncodingContainer<NestedKey> { next().container(keyedBy: type) }

  mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { next().unkeyedContainer() }

  /// In the place of the array, as in Alamofire.
  mutating func superEncoder() -> any Encoder {
    count += 1
    return encoder
  }
}

private struct FormValueContainer: SingleValueEncodingContainer {
  let encoder: FormEncoder
  private var isFilled = false
  var codingPath: [any CodingKey] { encoder.codingPath }

  init(encoder: FormEncoder) { self.encoder = encoder }

  func encodeNil() { encoder.encodeNil() }

  mutating func encode<T: Encodable>(_ value: T) throws {
    guard !isFilled else {
      throw EncodingError.invalidValue(
        value, .init(codingPath: codingPath, debugDescription: "a second value for one that was encoded"))
    }
    isFilled = true
    try encoder.encode(value)
  }
}
