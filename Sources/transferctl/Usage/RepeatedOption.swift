/// Finds an option that says what is meant and is given twice. The parser keeps only the last value: the first list
/// would not be added, the first digest not compared, the first batch not awaited, and nothing would say so.
///
/// Settings (`--priority`, `-d`, …) may be repeated: the last one counts, so that an alias can have its own.
enum RepeatedOption {
  /// The names of each such option in all commands.
  private static let options: [[String]] = [
    ["-i", "--from-file", "--files-from"], ["--manifest"], ["--metalink"], ["--checksums"], ["--checksum"],
    ["-o", "--output"], ["--to"], ["--then-upload"], ["--url"], ["--batch"], ["--state"], ["--key"],
  ]

  /// - Parameter arguments: the words after the program's name, which the parser has accepted: a word with a dash that
  ///   it takes as a value is a number.
  /// - Returns: the option as it was given the second time; `nil` if there is none.
  static func first(in arguments: [String]) -> String? {
    var given: Set<Int> = []
    for word in arguments.prefix(while: { $0 != "--" }) {
      for name in names(in: word) {
        guard let index = options.firstIndex(where: { $0.contains(name) }) else { continue }
        guard given.insert(index).inserted else { return name }
      }
    }
    return nil
  }

  /// The options that a word holds: `--to=URL` has one, `-0i` has two.
  private static func names(in word: String) -> [String] {
    if word.hasPrefix("--") { return [String(word.prefix { $0 != "=" })] }
    guard word.hasPrefix("-") else { return [] }
    return word.dropFirst().prefix { $0 != "=" }.map { "-\($0)" }
  }
}
