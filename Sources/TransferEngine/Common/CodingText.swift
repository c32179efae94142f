/// Errors of encoders and decoders as text for people: the place and the problem, without values of the data.
enum CodingText {
  static func of(_ error: any Error) -> String {
    switch error {
    case DecodingError.keyNotFound(let key, let context):
      "there is no \"\(key.stringValue)\"\(place(context.codingPath))"
    case DecodingError.valueNotFound(_, let context): "there is no value\(place(context.codingPath))"
    case DecodingError.typeMismatch(let type, let context):
      "it is not of type \(type)\(place(context.codingPath)): \(context.debugDescription)"
    case DecodingError.dataCorrupted(let context):
      "\(context.debugDescription.isEmpty ? "it cannot be read" : context.debugDescription)\(place(context.codingPath))"
    case EncodingError.invalidValue(_, let context):
      "\(context.debugDescription)\(place(context.codingPath))"
    default: "\(error)"
    }
  }

  private static func place(_ path: [any CodingKey]) -> String {
    guard !path.isEmpty else { return "" }
    var text = ""
    for key in path {
      if let index = key.intValue { text += "[\(index)]" } else { text += (text.isEmpty ? "" : ".") + key.stringValue }
    }
    return " at \(text)"
  }
}
