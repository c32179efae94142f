import FoundationEssentials
import HTTPTypes
import WireValues

/// A parsed Content-Type (RFC 9110 §8.3.1).
struct MediaType {
  /// `type/subtype` in lower case.
  let essence: String
  /// Names in lower case; if a name occurs twice, the first one counts. Values without quotes.
  let parameters: [String: String]

  init(_ text: String) {
    let pieces = Self.pieces(text)
    essence = pieces.first?.trimmingBlanks().lowercased() ?? ""
    var parameters: [String: String] = [:]
    for piece in pieces.dropFirst() {
      guard let equals = piece.firstIndex(of: "=") else { continue }
      let name = piece[..<equals].trimmingBlanks().lowercased()
      let value = Self.unquoted(piece[piece.index(after: equals)...].trimmingBlanks())
      if parameters[name] == nil { parameters[name] = value }
    }
    self.parameters = parameters
  }

  /// Splits at semicolons outside quotes.
  private static func pieces(_ text: String) -> [Substring] {
    var pieces: [Substring] = []
    var start = text.startIndex
    var isQuoted = false
    var isEscaped = false
    for index in text.indices {
      let character = text[index]
      if isEscaped {
        isEscaped = false
      } else if isQuoted, character == "\\" {
        isEscaped = true
      } else if character == "\"" {
        isQuoted.toggle()
      } else if character == ";", !isQuoted {
        pieces.append(text[start..<index])
        start = text.index(after: index)
      }
    }
    return pieces + [text[start...]]
  }

  private static func unquoted(_ text: Substring) -> String {
    guard text.count >= 2, text.first == "\"", text.last == "\"" else { return String(text) }
    var value = ""
    var isEscaped = false
    for character in text.dropFirst().dropLast() {
      if character == "\\", !isEscaped {
        isEscaped = true
      } else {
        value.append(character)
        isEscaped = false
      }
    }
    return value
  }
}
