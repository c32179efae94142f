import ArgumentParser
import TransferAPI

struct Show: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Show all that is known of a job.")

  @OptionGroup var daemon: ConnectionOptions

  @Argument(help: ArgumentHelp("The job's number.", valueName: "id"))
  var id: JobID

  @Option(help: "For people, or as JSON.")
  var format = DetailFormat.text

  func run() async throws {
    let detail = try await daemon.open().job(id)
    switch format {
    case .json: try Output.standard.line(try json(detail))
    case .text: for line in DetailText.lines(detail) { try Output.standard.line(line) }
    }
  }
}

/// One line of JSON, as both programs write it.
func json(_ value: some Encodable) throws -> String {
  String(decoding: try WireCoding.encoder().encode(value), as: UTF8.self)
}
