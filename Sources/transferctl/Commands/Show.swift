import ArgumentParser
import FoundationEssentials
import TransferAPI

struct Show: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "show", abstract: "Show everything about a job.")

  @OptionGroup var daemon: ConnectionOptions

  @Argument(help: ArgumentHelp("The id of the job.", valueName: "id"))
  var id: JobID

  @Option(help: "The output format.")
  var format = DetailFormat.text

  func run() async throws {
    let detail = try await daemon.open().job(id)
    try format.print(detail) { DetailText.lines(detail) }
  }
}

/// One line of JSON in the format that both programs write.
func json(_ value: some Encodable) throws -> String {
  String(decoding: try WireCoding.encoder().encode(value), as: UTF8.self)
}
