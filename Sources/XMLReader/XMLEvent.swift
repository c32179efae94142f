/// What ``XMLReader`` reports, in the order of the document. Comments and processing instructions are passed over.
public enum XMLEvent: Sendable, Equatable {
  /// A start tag, or the first half of an empty element.
  case start(XMLName, attributes: [XMLAttribute])
  case end(XMLName)
  /// The text between two tags in one piece, CDATA sections included, blanks as they are. Never empty.
  case text(String)
}

/// The name of an element or attribute, its prefix resolved (Namespaces in XML 1.0 §4).
public struct XMLName: Sendable, Hashable {
  /// The URI of the namespace; empty if the name is in none.
  public var namespace: String
  public var local: String

  public init(namespace: String = "", local: String) {
    self.namespace = namespace
    self.local = local
  }

  /// - Parameter text: URI, line feed, local name; or the local name. XML names have no line feeds, and those of a URI become spaces.
  init(_ text: String) {
    let end = text.unicodeScalars.lastIndex(of: "\n")
    namespace = end.map { String(text[..<$0]) } ?? ""
    local = end.map { String(text[text.unicodeScalars.index(after: $0)...]) } ?? text
  }
}

public struct XMLAttribute: Sendable, Equatable {
  public var name: XMLName
  public var value: String

  public init(name: XMLName, value: String) {
    self.name = name
    self.value = value
  }
}
