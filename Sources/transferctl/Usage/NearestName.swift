/// Finds the known name that is most similar to a mistyped one.
enum NearestName {
  /// - Parameters:
  ///   - word: what was typed; options with their dashes.
  ///   - names: the known names, in the same form.
  /// - Returns: the first name with the smallest distance; `nil` if more than a third of the word, or more than
  ///   three characters, would have to change.
  static func of(_ word: String, among names: [String]) -> String? {
    // Longer words have no near name, and the distance's cost grows with the length.
    guard word.count <= 64 else { return nil }
    let letters = bare(word)
    let limit = min(3, max(1, letters.count / 3))
    return names.map { (name: $0, distance: distance(letters, bare($0))) }
      .filter { $0.distance <= limit && $0.distance < bare($0.name).count }
      .min { $0.distance < $1.distance }?.name
  }

  /// The number of characters to insert, delete, replace or swap with their neighbour (optimal string alignment).
  static func distance(_ one: [Character], _ other: [Character]) -> Int {
    var beforeLast: [Int] = []
    var last = Array(0...other.count)
    for (row, character) in one.enumerated() {
      var current = [row + 1]
      for (column, candidate) in other.enumerated() {
        var best = min(last[column + 1] + 1, current[column] + 1)  // checked: at most the words' lengths
        best = min(best, last[column] + (character == candidate ? 0 : 1))  // checked: as above
        if row > 0, column > 0, character == other[column - 1], one[row - 1] == candidate {
          best = min(best, beforeLast[column - 1] + 1)
        }
        current.append(best)
      }
      (beforeLast, last) = (last, current)
    }
    return last[other.count]
  }

  private static func bare(_ word: String) -> [Character] { Array(word.drop { $0 == "-" }) }
}
