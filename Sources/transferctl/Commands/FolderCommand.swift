import ArgumentParser
import FoundationEssentials
import TransferAPI

struct FolderCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "folder", abstract: "Watch directories and upload what lands in them.",
    subcommands: [AddFolder.self, ListFolders.self, RemoveFolder.self])

  struct ListFolders: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "ls", abstract: "List the watched directories.")

    @OptionGroup var daemon: ConnectionOptions
    @OptionGroup var owner: OwnerOptions

    @Option(help: "The output format.")
    var format = DetailFormat.text

    func run() async throws {
      let folders: [WatchedFolder] = try await daemon.connection(of: owner).open().get("/v1/folders")
      guard format == .text else { return try Output.standard.line(try json(folders)) }
      guard !folders.isEmpty else { return Notice.say("no folders") }
      var table = Table([
        .init(title: "ID", alignment: .right), .init(title: "DIRECTORY"), .init(title: "TO"),
        .init(title: "SETTLE", alignment: .right), .init(title: "UPLOADS", alignment: .right), .init(title: "PROBLEM"),
      ])
      let rows = folders.map { folder in
        [
          String(folder.id), folder.folder.directory + (folder.folder.recursive ? "/**" : ""), folder.folder.to,
          "\(folder.folder.settle ?? NewFolder.standardSettle)s", String(folder.uploads), folder.error ?? "-",
        ]
      }
      try Output.standard.lines(table.lines(rows, Paint(.output)))
    }
  }

  struct RemoveFolder: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "remove", abstract: "Stop watching a directory; its jobs stay.")

    @OptionGroup var daemon: ConnectionOptions

    @Argument(help: ArgumentHelp("The folder's id.", valueName: "id"))
    var id: Int64

    func run() async throws {
      try await daemon.connection().open().delete("/v1/folders/\(id)")
      Notice.say("removed the folder \(id)")
    }
  }
}
