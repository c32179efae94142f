/// A first-in, first-out queue in a ring buffer.
struct Queue<Element> {
  private var elements: [Element?] = Array(repeating: nil, count: 64)
  private var head = 0
  private(set) var count = 0

  mutating func append(_ element: Element) {
    if count == elements.count { grow() }
    elements[(head + count) & (elements.count - 1)] = element
    count += 1
  }

  mutating func popFirst() -> Element? {
    guard count > 0 else { return nil }
    defer {
      elements[head] = nil
      head = (head + 1) & (elements.count - 1)
      count -= 1
    }
    return elements[head]
  }

  private mutating func grow() {
    elements = (0..<count).map { elements[(head + $0) & (elements.count - 1)] } + Array(repeating: nil, count: count)
    head = 0
  }
}
