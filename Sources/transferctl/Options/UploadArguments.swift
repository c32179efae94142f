import ArgumentParser
import TransferAPI

extension UploadProtocolName: ExpressibleByArgument {}
extension ChangeRule: ExpressibleByArgument {}
extension UploadMethod: ExpressibleByArgument {
  public init?(argument: String) { self.init(rawValue: argument.uppercased()) }
}

/// The options of `upload` that name the target and the protocol.
struct UploadArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The target URL, with {name} {path} {relpath} {size} {mtime} {sha256} of the file; a final slash adds {name}.",
      valueName: "url"))
  var to: String?

  @Option(help: ArgumentHelp("The HTTP method, PUT or POST.", valueName: "method"))
  var method: UploadMethod?

  @Option(name: .customLong("protocol"), help: "The upload protocol.")
  var uploadProtocol = UploadProtocolName.auto

  @Option(
    help: ArgumentHelp("A form field, NAME=VALUE, or NAME=@ for the file; repeatable.", valueName: "field"))
  var form: [String] = []

  @Option(
    help: ArgumentHelp(
      "An idempotency key, like {path}:{mtime}: adding the same key again returns the same job.",
      valueName: "template"))
  var key: String?

  @Option(
    help: ArgumentHelp(
      "The action on the file after its upload: keep, delete or move=DIR.", valueName: "action"))
  var onSuccess = "keep"

  @Option(help: "The reaction to a file that changes during its upload.")
  var onChange = ChangeRule.restart

  @Flag(help: "Fail if the target already exists, as far as the protocol can tell.")
  var ifAbsent = false

  @Flag(help: "Compare the file's length on the server after a PUT, and fail if it differs.")
  var verify = false

  @Option(
    help: ArgumentHelp("Keep the paths below this directory in the target.", valueName: "dir"), completion: .directory)
  var root: String?

  @Flag(help: "Upload all files in directories, and keep their paths.")
  var recursive = false

  func validate() throws {
    _ = try validated(about: "form") { try options() }
    _ = try validated(about: "onSuccess") { try SuccessAction(parsing: onSuccess) }
    if let to { _ = try validated(about: "to") { try UploadTemplate(parsing: to) } }
    if let key { _ = try validated(about: "key") { try UploadTemplate(parsing: key) } }
    if to?.isEmpty == true { throw ValidationError("--to is empty.") }
    if root?.isEmpty == true { throw ValidationError("--root is empty.") }
  }

  func options() throws -> JobOptions.Upload {
    var options = try JobOptions.Upload(method: method, uploadProtocol: uploadProtocol, form: form)
    options.onChange = onChange
    options.ifAbsent = ifAbsent
    options.verify = verify
    return options
  }
}

extension JobOptions.Upload {
  /// Fields of a form need no `--protocol`.
  /// - Parameter form: texts like `NAME=VALUE`.
  init(method: UploadMethod?, uploadProtocol: UploadProtocolName, form: [String]) throws {
    self.init()
    (self.method, self.uploadProtocol) = (method, form.isEmpty ? uploadProtocol : .form)
    self.form = try form.map { text throws(WireError) in try FormField(parsing: text) }
    guard form.isEmpty || uploadProtocol == .form || uploadProtocol == .auto else {
      throw ValidationError("--form needs --protocol form.")
    }
  }
}
