/// Names and nodes in the order in which they were added.
struct FormObject {
  private(set) var entries: [(key: String, value: FormNode)] = []
  private var places: [String: Int] = [:]

  subscript(name: String) -> FormNode? { places[name].map { entries[$0].value } }

  mutating func append(_ name: String, _ node: FormNode) {
    places[name] = entries.count
    entries.append((name, node))
  }
}
