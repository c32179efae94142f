/// The tree of a form's values before it is written. One encoder builds it, on one thread.
final class FormNode {
  enum Content {
    /// Nothing was encoded here: nothing is written.
    case empty
    case text(String)
    case array([FormNode])
    case object(FormObject)
  }

  private(set) var content = Content.empty

  /// Sets a text at a path. It replaces content of another shape; an index beyond the end of an array appends.
  func set(_ text: String, at path: [FormKey]) {
    var node = self
    for key in path { node = node.child(key) }
    node.content = .text(text)
  }

  private func child(_ key: FormKey) -> FormNode {
    switch key {
    case .name(let name):
      if case .object(let object) = content, let child = object[name] { return child }
      var object = if case .object(let object) = content { object } else { FormObject() }
      content = .empty
      let child = FormNode()
      object.append(name, child)
      content = .object(object)
      return child
    case .index(let index):
      var items = if case .array(let items) = content { items } else { [FormNode]() }
      if index < items.count { return items[index] }
      content = .empty
      let child = FormNode()
      items.append(child)
      content = .array(items)
      return child
    }
  }
}
