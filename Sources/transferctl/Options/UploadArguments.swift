import ArgumentParser
import TransferAPI

extension UploadProtocolName: ExpressibleByArgument {}
extension ChangeRule: ExpressibleByArgument {}
extension UploadMethod: ExpressibleByArgument {
  public init?(argument: String) { self.init(rawValue: argument.uppercased()) }
}

/// The options of `upload` that say where files go and how.
struct UploadArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The URL; {name} {path} {relpath} {size} {mtime} {sha256} stand for the file's, and a slash at its end for {name}.",
      valueName: "url"))
  var to: String?

  @Option(help: ArgumentHelp("PUT or POST.", valueName: "method"))
  var method: UploadMethod?

  @Option(name: .customLong("protocol"), help: "How the bytes are brought there.")
  var uploadProtocol = UploadProtocolName.auto

  @Option(
    help: ArgumentHelp("A form's field, NAME=VALUE, or NAME=@ for the file; may be repeated.", valueName: "field"))
  var form: [String] = []

  @Option(
    help: ArgumentHelp(
      "The same key answers the same job, however often it is added; {path}:{mtime} and the like.",
      valueName: "template"))
  var key: String?

  @Option(
    help: ArgumentHelp(
      "What becomes of the file when the server has it: keep, delete or move=DIR.", valueName: "action"))
  var onSuccess = "keep"

  @Option(help: "What happens when the file changes while it is sent.")
  var onChange = ChangeRule.restart

  @Flag(help: "Fail where the server has something under that name already, as far as the protocol can tell.")
  var ifAbsent = false

  @Flag(help: "Ask the server after a PUT how long the file is there, and fail where that is not its length.")
  var verify = false

  @Option(help: ArgumentHelp("Another S3 server than AWS.", valueName: "url"))
  var endpoint: String?

  @Option(help: ArgumentHelp("A profile of ~/.aws, for S3.", valueName: "name"))
  var profile: String?

  @Option(help: ArgumentHelp("A region, for S3.", valueName: "name"))
  var region: String?

  @Option(help: ArgumentHelp("The paths below this directory are kept.", valueName: "dir"), completion: .directory)
  var root: String?

  @Flag(help: "Send all files in directories; their paths are kept.")
  var recursive = false

  @OptionGroup var job: JobArguments

  func validate() throws {
    _ = try validated { try options() }
    if let to { _ = try validated { try UploadTemplate(parsing: to) } }
    if let key {
      if key.isEmpty { throw ValidationError("--key is empty.") }
      _ = try validated { try UploadTemplate(parsing: key) }
    }
    if root?.isEmpty == true { throw ValidationError("--root is empty.") }
  }

  private func options() throws -> UploadOptions {
    var options = UploadOptions()
    options.method = method
    options.uploadProtocol = uploadProtocol
    options.form = try form.map { text throws(WireError) in try FormField(parsing: text) }
    if !form.isEmpty {
      guard uploadProtocol == .form || uploadProtocol == .auto else {
        throw ValidationError("--form goes with --protocol form.")
      }
      options.uploadProtocol = .form
    }
    options.onSuccess = try SuccessAction(parsing: onSuccess)
    options.onChange = onChange
    options.ifAbsent = ifAbsent
    options.verify = verify
    options.endpoint = endpoint
    options.profile = profile
    options.region = region
    return options
  }

  /// - Throws: `CommandFailure` for a directory that is not there.
  func plan(_ paths: PathResolver = PathResolver()) throws -> UploadPlan {
    var options = try options()
    if case .move(let directory) = options.onSuccess {
      let directory = try paths.absolute(directory)
      guard PathResolver.isDirectory(directory) else {
        throw CommandFailure(
          .cannotCreate, "the directory \(directory) does not exist; make it before files are moved there")
      }
      options.onSuccess = .move(to: directory)
    }
    return UploadPlan(
      target: try to.map { text throws(WireError) in try UploadTemplate(parsing: text) },
      key: try key.map { text throws(WireError) in try UploadTemplate(parsing: text) },
      keepsPaths: recursive || root != nil, options: options, job: try job.template(paths))
  }
}
