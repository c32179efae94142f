import TransferAPI
import WireValues

/// `-o`: a file name or a path below a directory, with fields of the URL: `{host}/{path}`, `{n}-{name}`. Pure.
///
/// `{{` and `}}` are the braces themselves. Values of fields are made safe, so that the result stays below the directory.
struct OutputTemplate: Equatable, Sendable {
  enum Field: String, CaseIterable, Sendable {
    /// Without port.
    case host
    /// The directories of the URL's path and the name.
    case path
    /// The last segment of the URL's path.
    case name
    /// The number of the job in this call, from 1.
    case n
  }

  private enum Part: Equatable, Sendable {
    case text(String)
    case field(Field)
  }

  /// What stands for a name that the URL does not have.
  static let unnamed = "download"

  private var parts: [Part] = []

  /// - Throws: `WireError` for an unknown field, an unpaired brace, or a path that is not below the directory.
  init(parsing text: String) throws(WireError) {
    var (literal, sample) = ("", "")
    var rest = text[...]
    while let character = rest.popFirst() {
      switch character {
      case "{" where rest.first == "{", "}" where rest.first == "}":
        rest.removeFirst()
        literal.append(character)
        sample.append(character)
      case "{":
        guard let end = rest.firstIndex(of: "}") else {
          throw WireError("a { has no } in -o \"\(text)\"; write {{ for a brace")
        }
        guard let field = Field(rawValue: String(rest[..<end])) else {
          let known = Field.allCases.map { "{\($0.rawValue)}" }.joined(separator: " ")
          throw WireError("unknown placeholder {\(rest[..<end])} in -o; use \(known), and {{ for a brace")
        }
        if !literal.isEmpty { parts.append(.text(literal)) }
        literal = ""
        parts.append(.field(field))
        sample.append("x")
        rest = rest[rest.index(after: end)...]
      case "}": throw WireError("a } has no { in -o \"\(text)\"; write }} for a brace")
      default:
        literal.append(character)
        sample.append(character)
      }
    }
    if !literal.isEmpty { parts.append(.text(literal)) }
    try Syntax.check(outputName: sample)
    if !isConstant, sample.isAbsolutePath {
      throw WireError("-o with placeholders is a path below -d, so it must not begin with /; use -d for the directory")
    }
  }

  /// Whether every URL gives the same path.
  var isConstant: Bool { !parts.contains { if case .field = $0 { true } else { false } } }

  /// - Parameter number: of the job in this call, from 1.
  func expanded(for url: String, number: Int) -> String {
    let names = URLNames(url)
    let whole = parts.map { part in
      switch part {
      case .text(let text): text
      case .field(.host): names.host ?? "host"
      case .field(.path): (names.directories + [names.name ?? Self.unnamed]).joined(separator: "/")
      case .field(.name): names.name ?? Self.unnamed
      case .field(.n): String(number)
      }
    }.joined()
    guard !isConstant else { return whole }
    // A value and the text beside it may be too long together.
    return whole.componentsOfPath.map { SafeName.shortened(String($0), to: SafeName.maximumBytes) }
      .joined(separator: "/")
  }
}
