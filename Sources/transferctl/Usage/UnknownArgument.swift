/// The first option or subcommand on a command line that does not exist.
///
/// ArgumentParser reports faults of known options first: for `add URL URL -o a --segment 4` it would only complain about
/// `-o`. This search runs only after the parser has refused the command line.
struct UnknownArgument: Equatable, CustomStringConvertible {
  enum Kind: String, Sendable { case option, command }

  let kind: Kind
  /// Without the value that may follow `=`: it may be a secret.
  let word: String
  /// The known name most like it; `nil` if none is near.
  var suggestion: String?
  /// The command it was given to: `transferctl daemon`.
  let command: String

  var description: String {
    let advice = suggestion.map { "did you mean '\($0)'?" } ?? "see '\(command) --help'"
    return "unknown \(kind) '\(word)'; \(advice)"
  }

  /// - Parameters:
  ///   - arguments: the words after the program's name.
  ///   - root: the program.
  /// - Returns: `nil` if every option and subcommand exists.
  static func first(in arguments: [String], of root: CommandSyntax) -> UnknownArgument? {
    var scan = Scan(command: root, path: root.commandName)
    var rest = arguments[...]
    while let word = rest.popFirst(), word != "--" {
      if let unknown = scan.read(word, &rest) { return unknown }
    }
    return nil
  }
}

/// Follows a command line from command to subcommand.
private struct Scan {
  var command: CommandSyntax
  /// The names of the commands so far.
  var path: String

  /// Options that ArgumentParser handles itself and does not describe.
  private static let builtIn: Set<String> = [
    "--generate-completion-script", "--experimental-dump-help", "--help-hidden", "-help-hidden",
  ]

  /// - Parameter rest: the words after this one; the values of options are removed.
  mutating func read(_ word: String, _ rest: inout ArraySlice<String>) -> UnknownArgument? {
    if word.hasPrefix("--") { return readLong(word, &rest) }
    if word.hasPrefix("-"), word != "-" { return readShort(word, &rest) }
    guard let subcommands = command.subcommands, !subcommands.isEmpty else { return nil }
    guard let next = command.subcommand(word) else {
      // `help` takes the names of commands. For an unknown name the parser shows the general help.
      guard word != "help" else {
        rest = []
        return nil
      }
      return unknown(.command, word, among: subcommands.flatMap(\.names))
    }
    command = next
    path += " " + next.commandName
    return nil
  }

  private func readLong(_ word: String, _ rest: inout ArraySlice<String>) -> UnknownArgument? {
    let name = String(word.prefix { $0 != "=" })
    guard !Self.builtIn.contains(name) else {
      rest = []
      return nil
    }
    if let option = command.option(name) ?? leadingOption(name) {
      if name == word { skipValue(of: option, &rest) }
      return nil
    }
    return unknown(.option, name, among: command.optionNames + (isAtRoot ? LeadingOptions.names : []))
  }

  private var isAtRoot: Bool { command.commandName == path }

  /// An option of every command, given before it.
  private func leadingOption(_ name: String) -> CommandSyntax.Argument? {
    guard isAtRoot, LeadingOptions.names.contains(name) else { return nil }
    return command.subcommands?.lazy.compactMap { $0.option(name) }.first
  }

  /// One letter, or flags together: `-J`, `-Ji`.
  private func readShort(_ word: String, _ rest: inout ArraySlice<String>) -> UnknownArgument? {
    let letters = word.dropFirst().prefix { $0 != "=" }
    guard !Self.builtIn.contains(word), letters.first?.isLetter ?? false || command.option(word) != nil else {
      // A negative number: the parser checks whether it is allowed here.
      return nil
    }
    let options = letters.map { command.option("-\($0)") }
    guard options.allSatisfy({ $0 != nil }) else {
      var unknown = unknown(.option, "-" + letters, among: command.optionNames)
      // `-oNAME`, as with curl.
      if unknown.suggestion == nil, let option = options[0], option.takesValue {
        unknown.suggestion = "-\(letters.prefix(1)) \(letters.dropFirst())"
      }
      return unknown
    }
    if word.dropFirst() == letters, let option = options.last ?? nil { skipValue(of: option, &rest) }
    return nil
  }

  /// A word with two dashes is read as an option: the value is missing, or the option is unknown.
  private func skipValue(of option: CommandSyntax.Argument, _ rest: inout ArraySlice<String>) {
    guard option.takesValue, let value = rest.first else { return }
    if option.takesAnyWord || !value.hasPrefix("--") { rest.removeFirst() }
  }

  private func unknown(_ kind: UnknownArgument.Kind, _ word: String, among names: [String]) -> UnknownArgument {
    UnknownArgument(kind: kind, word: word, suggestion: NearestName.of(word, among: names), command: path)
  }
}
