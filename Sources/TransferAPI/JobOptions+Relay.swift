import WireValues

extension JobOptions {
  /// Options that only relays have: jobs that download a file and upload it again.
  public struct Relay: Equatable, Sendable {
    /// Where the target's user name and password are looked up at each attempt; `credentials` are the source's.
    public var targetCredentials: SecretReference?

    public init() {}

    mutating func visit(_ visitor: inout some OptionVisitor) throws {
      try visitor.option("targetCredentials", &targetCredentials, default: nil)
    }
  }

  /// The options of a relay that are for its download.
  /// - Parameter scheme: of the source's URL.
  public func ofRelaySource(_ scheme: String) -> JobOptions {
    var options = self
    (options.upload, options.relay) = (Upload(), Relay())
    options.network = network.suited(to: scheme)
    if scheme != "s3" { options.s3 = S3() }
    return options
  }

  /// The options of a relay that are for its upload. Header fields, cookies and credentials were given for the source, and no
  /// other server may see them.
  /// - Parameter scheme: of the target's URL.
  public func ofRelayTarget(_ scheme: String) -> JobOptions {
    var options = self
    (options.download, options.relay) = (Download(), Relay())
    (options.headers, options.secretHeaders) = ([:], [:])
    (options.userAgent, options.referer) = (nil, nil)
    options.credentials = relay.targetCredentials
    options.network = network.suited(to: scheme)
    options.network.cookies = nil
    if scheme != "s3", upload.uploadProtocol != .s3 { options.s3 = S3() }
    return options
  }

  /// Options for both sides of a relay, of which none can use them.
  /// - Throws: `WireError` that names the option.
  fileprivate func checkSides(_ schemes: [String]) throws(WireError) {
    let (tls, http) = (["http", "https", "s3", "ftps", "ftpes"], ["http", "https", "s3"])
    let useless = [
      ("ca", network.ca != nil, tls), ("httpVersion", network.httpVersion != nil, http),
      ("retryStatus", !network.retryStatus.isEmpty, http),
    ].first { $0.1 && Set($0.2).isDisjoint(with: schemes) }
    if let useless {
      throw WireError(
        text: "\(field: useless.0) is for \(useless.2.joined(separator: ", ")), and this relay uses none of them")
    }
    let hasS3 = schemes.contains("s3") || upload.uploadProtocol == .s3
    if !hasS3 { try s3.checkUnused() }
  }
}

extension JobOptions.Network {
  /// Without the options that have no meaning for a scheme.
  fileprivate func suited(to scheme: String) -> JobOptions.Network {
    var options = self
    if !["http", "https", "s3", "ftps", "ftpes"].contains(scheme) { options.ca = nil }
    if !["http", "https", "s3"].contains(scheme) { (options.httpVersion, options.retryStatus) = (nil, []) }
    return options
  }
}

extension NewJob {
  /// Checks that a job has what a relay needs, and no option that a relay cannot have; and that no other job has an option of
  /// relays. Without a target, as in the options of a command, only the options are checked.
  /// - Throws: `WireError`.
  public func checkRelay() throws(WireError) {
    guard kind == .relay else {
      if options.relay != JobOptions.Relay() {
        throw WireError(
          text: "\(field: "targetCredentials") is for relays, whose target \(field: "thenUpload") names")
      }
      return
    }
    guard directory == nil else {
      throw WireError(text: "a relay leaves no file on this machine, so \(field: "directory") has no use; leave it out")
    }
    let (download, network) = (options.download, options.network)
    let ofFiles = [
      ("nameFromResponse", download.nameFromResponse), ("createDirectories", download.createDirectories),
      ("replace", download.replace), ("ifExists", download.ifExists != nil), ("ifChanged", download.ifChanged),
      ("mode", download.mode != nil), ("remoteTime", download.remoteTime), ("partDir", download.partDir != nil),
      ("onSuccess", options.onSuccess != .keep), ("onChange", options.upload.onChange != .restart),
      ("spool", spool != nil), ("recursive", options.listing != JobOptions.Listing()),
    ].first { $0.1 }
    if let ofFiles {
      throw WireError(
        text: "\(field: ofFiles.0) is about files on this machine, and a relay leaves none; leave it out")
    }
    let ambiguous = [
      ("insecure", network.insecure), ("cert", network.cert != nil), ("certKey", network.certKey != nil),
    ].first { $0.1 }
    if let ambiguous {
      throw WireError(
        text:
          "\(field: ambiguous.0) could be meant for the source or the target of a relay; download the file with one job and upload it with another"
      )
    }
  }

  /// The schemes of source and target, for `JobOptions.ofRelaySource` and `ofRelayTarget`.
  /// - Throws: `WireError` for options that no side can use.
  public func checkRelaySides(source: String, target: String) throws(WireError) {
    try options.checkSides([source, target])
    do throws(WireError) {
      try options.ofRelaySource(source).check(scheme: source)
    } catch {
      throw WireError(text: "the source: \(error)")
    }
    do throws(WireError) {
      try options.ofRelayTarget(target).check(scheme: target)
    } catch {
      throw WireError(text: "the target: \(error)")
    }
  }

  /// Completes the target of a relay: with a slash at its end it is a collection, to which the name of the source is added.
  /// - Throws: `WireError` if the target is missing, or if the source has no name.
  public mutating func nameRelayTarget() throws(WireError) {
    guard kind == .relay else { return }
    guard let target = destination, !target.isEmpty else {
      throw WireError(text: "missing field \"\(field: "thenUpload")\": the URL where a relay uploads to")
    }
    // No field of a template: a brace is a part of the URL.
    let text = String(target.flatMap { $0 == "{" || $0 == "}" ? [$0, $0] : [$0] })
    let template = try UploadTemplate(parsing: text)
    var file = UploadedFile(path: "/", relativePath: "", size: 0, modifiedSeconds: 0, modifiedNanoseconds: 0)
    guard options.upload.uploadProtocol != .form, template.collection(for: file) != nil else { return }
    guard let name = URLNames(source).name else {
      throw WireError("the URL \(Secrets.redacting(url: source)) has no file name; put a name at the end of the target")
    }
    (file.path, file.relativePath) = ("/" + name, name)
    template.fill(&self, for: file, namesCollection: options.upload.collection == nil)
  }
}
