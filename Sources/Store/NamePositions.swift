/// Where a statement has its names, as earlier executions have found them: a name that is asked for again at the same place
/// is recognised by its address, without a comparison of text.
///
/// Used on the thread that has the statement's connection.
final class NamePositions {
  /// By position; `nil`: not asked for yet.
  private var names: [UnsafePointer<UInt8>?] = []

  /// Whether the statement has this name at this position. A literal never moves, and no other text has its address.
  func isKnown(_ name: StaticString, at position: Int32) -> Bool {
    let index = Int(position)
    return index < names.count && names[index] == name.utf8Start
  }

  /// Remembers that the statement has the name at this position.
  func note(_ name: StaticString, at position: Int32) {
    let index = Int(position)
    // A statement has at most 2,000 columns and 32,766 parameters (https://sqlite.org/limits.html).
    while names.count <= index { names.append(nil) }
    names[index] = name.utf8Start
  }
}
