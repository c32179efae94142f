import ArgumentParser
import FoundationEssentials

/// The names of a command, of its options and of its subcommands, as ArgumentParser describes them.
///
/// The description is made from the declarations of the commands, so a new option needs no change here.
struct CommandSyntax: Decodable, Sendable {
  let commandName: String
  var aliases: [String]?
  var subcommands: [CommandSyntax]?
  private var arguments: [Argument]?

  /// An option, a flag or a positional argument. The latter has no names.
  struct Argument: Decodable, Sendable {
    struct Name: Decodable, Sendable {
      let kind: String
      let name: String

      /// As on the command line: `-o`, `--output`.
      var word: String { (kind == "long" ? "--" : "-") + name }
    }

    let kind: String
    let parsingStrategy: String
    let shouldDisplay: Bool
    var names: [Name]?

    var takesValue: Bool { kind == "option" }
    /// Whether the next word is the value even if it begins with a dash: `--priority -5`.
    var takesAnyWord: Bool { parsingStrategy == "unconditional" }
  }

  private struct Description: Decodable {
    let command: CommandSyntax
  }

  /// - Parameter root: the command whose description is read; its subcommands are part of it.
  init(of root: any ParsableCommand.Type) throws {
    self = try JSONDecoder().decode(Description.self, from: Data(root._dumpHelp().utf8)).command
  }

  /// - Returns: the subcommand with this name or alias.
  func subcommand(_ name: String) -> CommandSyntax? {
    subcommands?.first { $0.names.contains(name) }
  }

  /// - Parameter word: the name with its dashes.
  func option(_ word: String) -> Argument? {
    arguments?.first { $0.names?.contains { $0.word == word } ?? false }
  }

  /// The names that help shows, with their dashes.
  var optionNames: [String] {
    arguments?.filter(\.shouldDisplay).flatMap { $0.names ?? [] }.map(\.word) ?? []
  }

  /// The names by which the command is called.
  var names: [String] { [commandName] + (aliases ?? []) }
}
