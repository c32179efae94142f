/// A field of a form: `NAME=VALUE`, or `NAME=@` for the job's file.
public struct FormField: Equatable, Sendable, CustomStringConvertible {
  public enum Value: Equatable, Sendable {
    case file
    case text(String)
  }

  public var name: String
  public var value: Value

  public init(name: String, value: Value) {
    self.name = name
    self.value = value
  }

  /// - Throws: `WireError`
  public init(parsing text: String) throws(WireError) {
    guard let equals = text.firstIndex(of: "="), equals != text.startIndex else {
      throw WireError("a form field is NAME=VALUE, or NAME=@ for the file: \"\(text)\"")
    }
    name = String(text[..<equals])
    let rest = text[text.index(after: equals)...]
    if rest == "@" {
      value = .file
    } else if rest.hasPrefix("@") {
      throw WireError("the form field \(name) names another file; only the uploaded file can be sent, as NAME=@")
    } else {
      value = .text(String(rest))
    }
    guard name.unicodeScalars.allSatisfy({ $0.value > 0x1F && $0.value != 0x7F }) else {
      throw WireError("a form field's name has a control character")
    }
  }

  public var description: String {
    switch value {
    case .file: "\(name)=@"
    case .text(let text): "\(name)=\(text)"
    }
  }
}

extension FormField: Codable, TextCodable {}
