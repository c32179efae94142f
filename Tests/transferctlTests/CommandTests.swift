import ArgumentParser
import Testing

@testable import transferctl

@Suite struct CommandTests {
  /// ArgumentParser derives a missing name from the type, for every command at every start: a sixth of a call's time.
  @Test("every command has an explicit name")
  func names() {
    func check(_ command: any ParsableCommand.Type) {
      let configuration = command.configuration
      #expect(configuration.commandName != nil, "\(command)")
      for subcommand in configuration.subcommands { check(subcommand) }
    }
    check(Transferctl.self)
  }
}
