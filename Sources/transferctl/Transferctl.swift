import ArgumentParser
import Glibc
import TransferAPI

@main
struct Transferctl: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "transferctl",
    abstract: "Queue downloads and uploads, follow them, and control the daemon that runs them.",
    discussion: """
      Ids and data go to standard output, messages to standard error. Exit status: 0 done, 1 failed, \
      3 daemon unreachable, 4 no such job or batch, 5 permission denied, 6 not allowed in the job's state, \
      64 usage, 73 cannot create the destination, 124 timed out, 130 interrupted.
      """,
    version: "transferctl \(Version.current)",
    subcommands: [
      Add.self, Upload.self, Status.self, Show.self, Why.self, Events.self, Watch.self, Wait.self, PlanCommand.self,
      Pause.self, Resume.self, Cancel.self, Retry.self, Remove.self, SetCommand.self, LimitCommand.self,
      BatchCommand.self, FolderCommand.self, Export.self, Import.self, DaemonCommand.self, VersionCommand.self,
    ])

  static func main() async {
    StandardStreams.prepare()
    let status: Int32
    do {
      try requireUTF8Arguments()
      var command = try parsed(LeadingOptions.moved(Array(CommandLine.arguments.dropFirst())))
      Interrupt.install()
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
      try Output.standard.flush()
      status = ExitStatus.done.rawValue
    } catch {
      status = report(error)
    }
    Glibc.exit(status)
  }

  /// - Throws: `CommandFailure` for an unknown option or subcommand, whatever else is wrong, and for a repeated option;
  ///   else the parser's error.
  private static func parsed(_ arguments: [String]) throws -> any ParsableCommand {
    let command: any ParsableCommand
    do {
      command = try parseAsRoot(arguments)
    } catch {
      guard !exitCode(for: error).isSuccess, let syntax = try? CommandSyntax(of: Self.self),
        let unknown = UnknownArgument.first(in: arguments, of: syntax)
      else { throw error }
      throw CommandFailure(.usage, unknown.description)
    }
    if let name = RepeatedOption.first(in: arguments) {
      throw CommandFailure(.usage, "\(name) is given twice, and only one value can be used")
    }
    return command
  }

  /// Swift replaces bytes that are not UTF-8 by U+FFFD, which would name another file.
  private static func requireUTF8Arguments() throws {
    for index in 1..<max(1, Int(CommandLine.argc)) {
      guard let argument = CommandLine.unsafeArgv[index] else { continue }
      guard String(validatingCString: argument) != nil else {
        throw CommandFailure(.usage, "argument \(index) is not valid UTF-8: \(String(cString: argument))")
      }
    }
  }

  /// Prints the error's message, if it has one, and returns the exit status.
  private static func report(_ error: any Error) -> Int32 {
    // Output that was written before the failure still reaches the reader.
    if !(error is OutputError) { try? Output.standard.flush() }
    if let failure = CommandFailure(error) {
      if let message = failure.message { Notice.say("transferctl: \(message)") }
      return failure.status.rawValue
    }
    let code = exitCode(for: error)
    let message = fullMessage(for: error)
    guard code.isSuccess else {
      for line in message.split(separator: "\n", omittingEmptySubsequences: false) where !message.isEmpty {
        Notice.say(String(line))
      }
      return code.rawValue
    }
    do {
      // Help, a completion script or a version was requested.
      try Output.standard.line(message)
      try Output.standard.flush()
      return ExitStatus.done.rawValue
    } catch {
      Notice.say("transferctl: \(error)")
      return ExitStatus.failed.rawValue
    }
  }
}
