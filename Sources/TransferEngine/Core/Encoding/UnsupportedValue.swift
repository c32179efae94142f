/// A value that the format cannot contain.
struct UnsupportedValue: Error, CustomStringConvertible {
  let type: String
  var description: String { "\(type) cannot be in it" }
}
