import ArgumentParser
import FoundationEssentials
import TransferAPI

struct AddFolder: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Upload what lands in a directory, and print the folder's id.",
    discussion: """
      A file is uploaded once per version (path, size and time), when its size and time have not changed for --settle and no \
      program has it open for writing. Names that begin with a dot or end in .part or .tmp, and symbolic links, are passed over. \
      --key, --root, --paused, --not-before, --deadline and {sha256} are not for folders.
      """)

  @OptionGroup var daemon: ConnectionOptions
  @OptionGroup var upload: UploadArguments
  @OptionGroup var s3: S3Arguments
  @OptionGroup var job: JobArguments
  @OptionGroup var network: NetworkArguments

  @Argument(help: ArgumentHelp("The directory.", valueName: "dir"), completion: .directory)
  var directory: String

  @Option(
    help: ArgumentHelp("How long size and time of a file must not change; the default is 10 s.", valueName: "time"),
    transform: { try TimeSpan(parsing: $0) })
  var settle: TimeSpan?

  @Flag(help: "Pass over the files that are there now.")
  var newOnly = false

  var options: UploadOptions { UploadOptions(upload: upload, s3: s3, job: job, network: network) }

  func validate() throws {
    try options.check()
    guard upload.to != nil else { throw ValidationError("Name the target with --to.") }
    if directory.isEmpty { throw ValidationError("The directory's name is empty.") }
    if upload.key != nil { throw ValidationError("--key is not for folders: each version of a file has its own.") }
    if upload.root != nil { throw ValidationError("--root is not for folders: paths are kept below the directory.") }
    if job.paused { throw ValidationError("--paused is not for folders.") }
    if job.readsStandardInput { throw ValidationError("Headers of a folder cannot come from standard input.") }
    if job.notBefore != nil || job.deadline != nil {
      throw ValidationError("--not-before and --deadline are for single jobs, not for a folder.")
    }
    if settle == nil, try validated({ try SuccessAction(parsing: upload.onSuccess) }) != .keep {
      throw ValidationError("--on-success \(upload.onSuccess) needs --settle: say how long a file must not change.")
    }
    if let to = upload.to, try validated({ try UploadTemplate(parsing: to) }).uses(.sha256) {
      throw ValidationError("{sha256} cannot be used for a folder.")
    }
  }

  func run() async throws {
    let paths = PathResolver()
    let plan = try options.plan(paths)
    var folder = NewFolder(directory: try paths.absolute(directory), to: upload.to ?? "")
    (folder.settle, folder.recursive, folder.newOnly) = (settle?.seconds, upload.recursive, newOnly)
    (folder.batch, folder.priority, folder.options) = (plan.job.batch, plan.job.priority, plan.job.options)
    guard !folder.hasSecrets else {
      throw CommandFailure(
        .usage,
        "a folder keeps no passwords, keys and tokens; name them with --credentials or --secret-header (env:, file:, exec:)"
      )
    }
    guard PathResolver.isDirectory(folder.directory) else {
      throw CommandFailure(
        .failed,
        PathResolver.exists(folder.directory)
          ? "\(folder.directory) is not a directory; name one"
          : "there is no directory \(folder.directory); create it first")
    }
    let added: WatchedFolder = try await daemon.connection().open().post("/v1/folders", folder)
    try Output.standard.line("\(added.id)")
  }
}
