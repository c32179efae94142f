import ArgumentParser
import TransferAPI
import WireValues

/// The options of `add` for files that are uploaded again.
struct RelayArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Upload the file to this URL and keep no copy here; a final slash adds the file's name. Headers, cookies and --credentials are for the source.",
      valueName: "url"))
  var thenUpload: String?

  @Option(
    help: ArgumentHelp(
      "With --then-upload: the source of the target's user name and password, as for --credentials.",
      valueName: "reference"))
  var targetCredentials: String?

  @Option(help: ArgumentHelp("With --then-upload: the HTTP method of the upload, PUT or POST.", valueName: "method"))
  var method: UploadMethod?

  @Option(name: .customLong("protocol"), help: "With --then-upload: the upload protocol.")
  var uploadProtocol: UploadProtocolName?

  @Option(
    help: ArgumentHelp(
      "With --then-upload: a form field, NAME=VALUE, or NAME=@ for the file; repeatable.", valueName: "field"))
  var form: [String] = []

  @Flag(help: "With --then-upload: fail if the target already exists, as far as the protocol can tell.")
  var ifAbsent = false

  @Flag(help: "With --then-upload: compare the file's length on the server after a PUT, and fail if it differs.")
  var verify = false

  func validate() throws {
    guard let thenUpload else {
      let useless = [
        ("--target-credentials", targetCredentials != nil), ("--method", method != nil),
        ("--protocol", uploadProtocol != nil), ("--form", !form.isEmpty), ("--if-absent", ifAbsent),
        ("--verify", verify),
      ].first { $0.1 }
      if let useless { throw ValidationError("\(useless.0) is for uploads; it needs --then-upload.") }
      return
    }
    guard !thenUpload.contains("{"), !thenUpload.contains("}") else {
      throw ValidationError(
        "--then-upload has no fields; end it with a slash to add the file's name, and write a brace as %7B or %7D.")
    }
    try validated(about: "thenUpload") { try Syntax.check(url: thenUpload, schemes: URLText.uploadSchemes) }
    _ = try validated(about: "form") { try options() }
    _ = try relayOptions()
  }

  func options() throws -> JobOptions.Upload {
    var options = try JobOptions.Upload(method: method, uploadProtocol: uploadProtocol ?? .auto, form: form)
    (options.ifAbsent, options.verify) = (ifAbsent, verify)
    return options
  }

  func relayOptions() throws -> JobOptions.Relay {
    var options = JobOptions.Relay()
    options.targetCredentials = try targetCredentials.map { text in
      try validated(about: "targetCredentials") { try SecretReference(parsing: text) }
    }
    return options
  }
}
