/// A text with fields in braces: `{host}/{path}`. `{{` and `}}` are the braces themselves. Pure.
public struct BraceTemplate<Field>: Equatable, Sendable
where Field: RawRepresentable<String> & CaseIterable & Equatable & Sendable {
  public enum Part: Equatable, Sendable {
    case text(String)
    case field(Field)
  }

  public private(set) var parts: [Part] = []

  /// - Parameter place: where the text stands, for messages, like `-o`.
  /// - Throws: `WireError` for an unknown field or an unpaired brace.
  public init(parsing text: String, in place: String? = nil) throws(WireError) {
    // A template may be a URL with a password.
    let shown = (place.map { $0 + " " } ?? "") + "\"\(Secrets.redacting(url: text))\""
    var literal = ""
    var rest = text[...]
    while let character = rest.popFirst() {
      switch character {
      case "{" where rest.first == "{", "}" where rest.first == "}":
        rest.removeFirst()
        literal.append(character)
      case "{":
        guard let end = rest.firstIndex(of: "}") else {
          throw WireError("a { has no } in \(shown); write {{ for a brace")
        }
        guard let field = Field(rawValue: String(rest[..<end])) else {
          let known = Field.allCases.map { "{\($0.rawValue)}" }.joined(separator: " ")
          // Braces may be a part of a secret, which `shown` does not have.
          let name = "{\(rest[..<end])}"
          let unknown = shown.contains(name) ? "field \(name)" : "field"
          throw WireError("unknown \(unknown) in \(shown); use \(known), and {{ for a brace")
        }
        if !literal.isEmpty { parts.append(.text(literal)) }
        literal = ""
        parts.append(.field(field))
        rest = rest[rest.index(after: end)...]
      case "}": throw WireError("a } has no { in \(shown); write }} for a brace")
      default: literal.append(character)
      }
    }
    if !literal.isEmpty { parts.append(.text(literal)) }
  }

  public func uses(_ field: Field) -> Bool { parts.contains(.field(field)) }

  /// Whether there is no field, so that the text is always the same.
  public var isConstant: Bool { parts.allSatisfy { if case .text = $0 { true } else { false } } }

  /// Whether the template ends with a text, not with a field.
  var endsWithText: Bool { if case .text? = parts.last { true } else { false } }

  /// The text with the values of the fields.
  public func filled(_ value: (Field) -> String) -> String {
    parts.map { part in
      switch part {
      case .text(let text): text
      case .field(let field): value(field)
      }
    }.joined()
  }
}
