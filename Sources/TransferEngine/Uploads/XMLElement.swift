import FoundationEssentials
import XMLReader

/// A small XML document that S3 responds with, as a tree: elements and their text. A document that is not well-formed is refused, and
/// so are document types with their entities.
struct XMLElement: Sendable, Equatable {
  /// The name without its namespace: servers of S3's protocol differ in theirs.
  var name: String
  /// The text directly inside the element.
  var text = ""
  var children: [XMLElement] = []

  subscript(name: String) -> XMLElement? { children.first { $0.name == name } }

  func all(_ name: String) -> [XMLElement] { children.filter { $0.name == name } }

  /// `nil` if the bytes are not a document.
  init?(_ data: Data) {
    var limits = XMLReader.Limits()
    limits.depth = 32
    // A list of 1,000 parts has about 10,000 elements.
    limits.elements = 65_536
    // The bytes are in memory already.
    limits.textBytes = data.count
    var open: [XMLElement] = []
    var root: XMLElement?
    do {
      let reader = try XMLReader(limits: limits) { event in
        switch event {
        case .start(let name, _): open.append(XMLElement(name: name.local))
        case .text(let text): open[open.endIndex - 1].text += text  // checked: a text is inside an element
        case .end:
          let element = open.removeLast()
          if open.isEmpty {
            root = element
          } else {
            open[open.endIndex - 1].children.append(element)  // checked: not empty
          }
        }
      }
      try reader.read(data)
      try reader.finish()
    } catch {
      return nil
    }
    guard let root else { return nil }
    self = root
  }

  private init(name: String) { self.name = name }

  /// Escapes text for use between tags. Works on scalars: as a `Character`, `<` with a combining mark is not `<`. A
  /// literal carriage return would be read as a line feed (XML 1.0 §2.11).
  static func escaped(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result.append(contentsOf: "&amp;".unicodeScalars)
      case "<": result.append(contentsOf: "&lt;".unicodeScalars)
      case ">": result.append(contentsOf: "&gt;".unicodeScalars)
      case "\"": result.append(contentsOf: "&quot;".unicodeScalars)
      case "\r": result.append(contentsOf: "&#13;".unicodeScalars)
      default: result.append(scalar)
      }
    }
    return String(result)
  }
}
