/// One step of the path from the root to a value.
enum FormKey {
  case name(String)
  case index(Int)

  var codingKey: any CodingKey {
    switch self {
    case .name(let name): AnyKey(name)
    case .index(let index): AnyKey(intValue: index)
    }
  }
}
