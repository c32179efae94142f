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

  /// `2026-11-21T04:17:09.000Z`
  ///
  /// To the nearest millisecond: the formatter cuts off, and a time that was read and written again would lose one.
  public static func rfc3339(_ date: Date) -> String {
    date.addingTimeInterval(0.0005).formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
  }

  /// Reads both `…:09Z` and `…:09.123Z`; `nil` otherwise.
  public static func date(rfc3339 text: String) -> Date? {
    (try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text))
      ?? (try? Date.ISO8601FormatStyle().parse(text))
  }

  /// What is wrong with a JSON text, in one line for people.
  public static func explain(_ error: any Error) -> String {
    switch error {
    case let error as WireError: return error.description
    case DecodingError.dataCorrupted(let context):
      if let wire = context.underlyingError as? WireError { return wire.description }
      return context.codingPath.isEmpty ? "not valid JSON" : "field \"\(path(context))\" cannot be read"
    case DecodingError.keyNotFound(let key, _): return "missing field \"\(key.stringValue)\""
    case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context):
      return context.codingPath.isEmpty
        ? "not a JSON object" : "field \"\(path(context))\" has the wrong type"
    default: return String(describing: error)
    }
  }

  private static func path(_ context: DecodingError.Context) -> String {
    context.codingPath.map(\.stringValue).joined(separator: ".")
  }
}

extension Decoder {
  /// - Throws: `WireError` for a field of an object that has no case in `known`.
  func refuseUnknownFields<Key: CodingKey>(besides known: Key.Type) throws {
    let names = try container(keyedBy: AnyKey.self).allKeys.map(\.stringValue)
    // The order of the keys is random: the same input gets the same message.
    guard let unknown = names.filter({ Key(stringValue: $0) == nil }).min() else { return }
    throw WireError("unknown field \"\(unknown)\"")
  }
}

private struct AnyKey: CodingKey {
  var stringValue: String
  var intValue: Int? { nil }
  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}
