/// A text for people that names fields of a request. Each face puts its own name in the place of a field: the control API the
/// name in JSON, a command its option.
///
/// Written as a literal: `"\(field: "retryFor") must be …"`.
public struct FieldText: Equatable, Sendable, CustomStringConvertible, ExpressibleByStringInterpolation {
  fileprivate enum Part: Equatable, Sendable {
    case text(String)
    /// The name in JSON.
    case field(String)
  }

  private var parts: [Part] = []

  /// A text without fields.
  public init(_ text: String) { append(.text(text)) }

  public init(stringLiteral text: String) { append(.text(text)) }

  public init(stringInterpolation: StringInterpolation) {
    for part in stringInterpolation.parts { append(part) }
  }

  /// Texts side by side become one, so that equal texts are equal values.
  private mutating func append(_ part: Part) {
    guard case .text(let text) = part else { return parts.append(part) }
    if case .text(let last)? = parts.last {
      parts[parts.count - 1] = .text(last + text)  // checked: there is a last part
    } else if !text.isEmpty {
      parts.append(part)
    }
  }

  /// With the names in JSON.
  public var description: String { named { $0 } }

  /// With a face's own names.
  /// - Parameter name: returns `nil` for a field that keeps its name in JSON.
  public func named(_ name: (String) -> String?) -> String {
    parts.map { part in
      switch part {
      case .text(let text): text
      case .field(let field): name(field) ?? field
      }
    }.joined()
  }

  /// Whether it names the field.
  public func names(_ field: String) -> Bool { parts.contains(.field(field)) }

  /// The beginning of the text. A field whose name is cut has no place any more.
  /// - Parameter scalars: the most Unicode scalars.
  public func prefix(_ scalars: Int) -> FieldText {
    var (result, room) = (FieldText(""), scalars)
    for part in parts {
      switch part {
      case .text(let text):
        let kept = text.unicodeScalars.prefix(room)
        result.append(.text(String(kept)))
        guard kept.endIndex == text.unicodeScalars.endIndex else { return result }
        room -= kept.count  // checked: at most the room
      case .field(let name):
        let count = name.unicodeScalars.count
        guard count <= room else {
          result.append(.text(String(name.unicodeScalars.prefix(room))))
          return result
        }
        result.append(part)
        room -= count  // checked: at most the room
      }
    }
    return result
  }

  public struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var parts: [Part] = []

    public init(literalCapacity: Int, interpolationCount: Int) {}

    public mutating func appendLiteral(_ literal: String) { parts.append(.text(literal)) }

    public mutating func appendInterpolation<Value>(_ value: Value) { parts.append(.text(String(describing: value))) }

    /// The error's text, with its fields.
    public mutating func appendInterpolation(_ error: WireError) { parts += error.text.parts }

    /// A text with its fields.
    public mutating func appendInterpolation(_ text: FieldText) { parts += text.parts }

    /// A place for the name of a field.
    /// - Parameter name: in JSON.
    public mutating func appendInterpolation(field name: String) { parts.append(.field(name)) }
  }
}

extension FieldText {
  /// Finds the places of fields again.
  /// - Parameter fields: in the order of their places. One whose name does not stand at its place is passed over.
  init(_ text: String, fields: [Problem.Field]) {
    let scalars = Array(text.unicodeScalars)
    var position = 0
    for field in fields {
      guard (position...scalars.count).contains(field.at) else { continue }
      let name = field.name.unicodeScalars
      guard scalars[field.at...].starts(with: name) else { continue }
      append(.text(String(String.UnicodeScalarView(scalars[position..<field.at]))))
      append(.field(field.name))
      position = field.at + name.count  // checked: the name stands there
    }
    append(.text(String(String.UnicodeScalarView(scalars[position...]))))
  }

  /// The fields and their places in `description`.
  var fields: [Problem.Field] {
    var (fields, position): ([Problem.Field], Int) = ([], 0)
    for part in parts {
      switch part {
      case .text(let text): position += text.unicodeScalars.count  // checked: within a text in memory
      case .field(let name):
        fields.append(Problem.Field(name: name, at: position))
        position += name.unicodeScalars.count  // checked: as above
      }
    }
    return fields
  }
}
