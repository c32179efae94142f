public import FoundationEssentials

/// JSON as both programs write it: sorted keys, slashes as they are, dates in RFC 3339 with milliseconds, UTC.
public enum WireCoding {
  public static func encoder() -> JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .custom { date, encoder in
      var container = encoder.singleValueContainer()
      try container.encode(rfc3339(date))
    }
    return encoder
  }

  public static func decoder() -> JSONDecoder {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .custom { decoder in
      let text = try decoder.singleValueContainer().decode(String.self)
      guard let date = date(rfc3339: text) else { throw WireError("\"\(text)\" is not an RFC 3339 time") }
      return date
    }
    return decoder
  }

  /// Decodes what a client or a person wrote.
  /// - Throws: also for an object that has a field twice: each reader would choose one of the two values.
  public static func decode<Value: Decodable>(
    _ type: Value.Type, from json: Data, with decoder: JSONDecoder = WireCoding.decoder()
  ) throws -> Value {
    // The decoder would also read UTF-16, in which each ASCII character has a NUL; the checks here would not.
    guard !json.contains(0) else { throw WireError("the JSON has a NUL byte; it must be UTF-8") }
    guard !json.withUnsafeBytes(CombiningMarks.areTooMany) else { throw WireError(CombiningMarks.refusal) }
    let value = try decoder.decode(type, from: json)
    if let name = RepeatedField.name(in: json) { throw WireError("field \"\(name)\" is given twice") }
    return value
  }

  /// `2026-11-21T04:17:09.000Z`
  ///
  /// To the nearest millisecond: the formatter cuts off, and a time that was read and written again would lose one.
  public static func rfc3339(_ date: Date) -> String {
    date.addingTimeInterval(0.0005).formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
  }

  /// Reads both `…:09Z` and `…:09.123Z`, and offsets like `+02:00`; `nil` otherwise.
  public static func date(rfc3339 text: String) -> Date? {
    let text = withUsualLetters(text)
    guard isTime(text) else { return nil }
    let date =
      (try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text))
      ?? (try? Date.ISO8601FormatStyle().parse(text))
    // What is written must be readable again: an offset may lead to a year of five digits, or to none.
    return date.flatMap { writable.contains($0.timeIntervalSince1970) ? $0 : nil }
  }

  /// The time with the letters that the parser knows. RFC 3339 §5.6 also allows small ones, and a blank in the place of `T`, as
  /// `date --rfc-3339=seconds` prints it.
  private static func withUsualLetters(_ text: String) -> String {
    var bytes = Array(text.utf8)
    guard bytes.count > 10 else { return text }
    if [UInt8(ascii: " "), UInt8(ascii: "t")].contains(bytes[10]) { bytes[10] = UInt8(ascii: "T") }
    if bytes.last == UInt8(ascii: "z") { bytes[bytes.endIndex - 1] = UInt8(ascii: "Z") }  // checked: it is not empty
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Seconds since 1970 of the times that `rfc3339` writes with a year of four digits: from 0001-01-02 to 9999-12-31.
  private static let writable = -62_135_510_400.0...253_402_300_799.999

  /// Whether the text begins with a time that exists: `2026-02-28T22:00`. The parser would take `2026-02-30` for a day in March,
  /// and 25 o'clock for the next day.
  private static func isTime(_ text: String) -> Bool {
    let bytes = Array(text.utf8.prefix(16))
    guard bytes.count == 16, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"),
      bytes[13] == UInt8(ascii: ":")
    else { return false }
    func number(_ range: Range<Int>) -> Int? { Int(String(decoding: bytes[range], as: UTF8.self)) }
    guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10), let hour = number(11..<13),
      let minute = number(14..<16), isZone(text.utf8.dropFirst(16)), (1...12).contains(month), (0...23).contains(hour),
      (0...59).contains(minute)
    else { return false }
    let isLeapYear = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let days = [31, isLeapYear ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    return (1...days[month - 1]).contains(day)
  }

  /// Whether the rest of a time, from its seconds on, ends with `Z` or an offset. The parser would ignore what follows.
  private static func isZone(_ rest: some Collection<UInt8>) -> Bool {
    let allowed = "0123456789:.+-Z".utf8
    guard rest.count <= 24, rest.allSatisfy(allowed.contains) else { return false }
    return rest.dropLast().allSatisfy { $0 != UInt8(ascii: "Z") }
  }

  /// The longest explanation, in Unicode scalars.
  public static let maximumExplanation = 4000

  /// What is wrong with a JSON text, in one line for people. It may repeat a part of the text, cut at `maximumExplanation`.
  public static func explain(_ error: any Error) -> String { explanation(of: error).description }

  /// The same with places for the names of fields.
  public static func explanation(of error: any Error) -> FieldText { text(of: error).prefix(maximumExplanation) }

  private static func text(of error: any Error) -> FieldText {
    switch error {
    case let error as WireError: return error.text
    case DecodingError.dataCorrupted(let context):
      if let wire = context.underlyingError as? WireError { return wire.text }
      // The decoder reports a number that its type cannot have, such as 1.5 for a priority, in the same way.
      guard let place = place(of: context) else { return "not valid JSON, or a number is not whole or too large" }
      return "field \"\(field: place.field)\(place.rest)\" cannot be read"
    case DecodingError.keyNotFound(let key, _): return "missing field \"\(field: key.stringValue)\""
    case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context):
      guard let place = place(of: context) else { return "not a JSON object" }
      return "field \"\(field: place.field)\(place.rest)\" has the wrong type"
    default: return FieldText(String(describing: error))
    }
  }

  /// The field of a fault, and the way from it to the fault; `nil` for the whole text.
  private static func place(of context: DecodingError.Context) -> (field: String, rest: String)? {
    guard let first = context.codingPath.first else { return nil }
    return (
      first.stringValue,
      context.codingPath.dropFirst().map { key in ".\(key.intValue.map { "\($0)" } ?? key.stringValue)" }.joined()
    )
  }
}

extension Decoder {
  /// The names of an object's fields. Sorted, because a dictionary's order changes: the same input gets the same message each
  /// time.
  public func fieldNames() throws -> [String] {
    try container(keyedBy: OptionName.self).allKeys.map(\.stringValue).sorted()
  }

  /// The names of an object's fields.
  /// - Throws: `WireError` for one that is not known.
  func fieldNames(known isKnown: (String) -> Bool) throws -> [String] {
    let names = try fieldNames()
    if let unknown = names.first(where: { !isKnown($0) }) { throw WireError("unknown field \"\(unknown)\"") }
    return names
  }

  /// - Throws: `WireError` for a field of an object that has no case in `known`.
  func refuseUnknownFields<Key: CodingKey>(besides known: Key.Type) throws {
    _ = try fieldNames { Key(stringValue: $0) != nil }
  }
}

extension KeyedDecodingContainer {
  /// A field that a change may set or remove: `nil` if it is missing, `.some(nil)` for `null`.
  func decodeIfGiven<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value?? {
    do {
      return contains(key) ? .some(try decodeIfPresent(type, forKey: key)) : nil
    } catch let error as WireError {
      throw error.about(key.stringValue)
    }
  }
}
