/// The action on the file after its transfer, when the job's row records that: the server has an uploaded file, or a downloaded
/// file has its name.
public enum SuccessAction: Equatable, Sendable, CustomStringConvertible {
  case keep
  case delete
  /// Move the file into this directory (an absolute path), under its own name or, if that is taken, under another one.
  case move(to: String)

  /// `keep`, `delete` or `move=DIR`.
  /// - Throws: `WireError`
  public init(parsing text: String) throws(WireError) {
    switch text {
    case "keep": self = .keep
    case "delete": self = .delete
    default:
      guard text.hasPrefix("move=") else {
        throw WireError("\"\(text)\" is not keep, delete or move=DIR")
      }
      let directory = String(text.dropFirst("move=".count))
      guard !directory.isEmpty else { throw WireError("move= names no directory") }
      self = .move(to: directory)
    }
  }

  public var description: String {
    switch self {
    case .keep: "keep"
    case .delete: "delete"
    case .move(let directory): "move=\(directory)"
    }
  }
}

extension SuccessAction: Codable, TextCodable {}
