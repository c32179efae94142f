/// Header lines in order, as received or to be sent; names are compared without case.
public struct HeaderList: Sendable, ExpressibleByDictionaryLiteral, Sequence {
  public private(set) var lines: [(name: String, value: String)]

  public init(_ lines: [(String, String)] = []) {
    self.lines = lines.map { (name: $0.0, value: $0.1) }
  }

  public init(dictionaryLiteral elements: (String, String)...) {
    self.init(elements)
  }

  /// The first value of a name. Setting replaces all its lines; `nil` removes them.
  public subscript(name: String) -> String? {
    get { self[all: name].first }
    set { self[all: name] = newValue.map { [$0] } ?? [] }
  }

  /// All values of a name. Setting replaces the lines of that name where the first stood.
  public subscript(all name: String) -> [String] {
    get { lines.filter { $0.name.lowercased() == name.lowercased() }.map(\.value) }
    set {
      let place = lines.firstIndex { $0.name.lowercased() == name.lowercased() } ?? lines.endIndex
      lines.removeAll { $0.name.lowercased() == name.lowercased() }
      lines.insert(contentsOf: newValue.map { (name: name, value: $0) }, at: place)
    }
  }

  public mutating func add(_ name: String, _ value: String) {
    lines.append((name: name, value: value))
  }

  public func makeIterator() -> IndexingIterator<[(name: String, value: String)]> {
    lines.makeIterator()
  }
}
