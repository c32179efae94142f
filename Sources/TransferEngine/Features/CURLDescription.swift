import FoundationEssentials
import HTTPTypes

extension TransferRequest {
  /// The request as a command for a POSIX shell that sends the same request with `curl`.
  ///
  /// Secrets are replaced by `***`: Authorization, cookies, API keys, passwords, and parameters with secret names of
  /// the URL, a form or a JSON body. Of a body of another type only the length is shown, unless secrets are shown.
  /// - Parameters:
  ///   - showingSecrets: the command contains all secrets and works as it is; do not log it.
  ///   - defaultHeaders: the session's fields; fields of the request replace those of the same name.
  public func cURLDescription(showingSecrets: Bool = false, defaultHeaders: HTTPFields = [:]) -> String {
    var words = ["curl -v"]
    if isHTTP { words.append(method == .head ? "--head" : "-X \(method.rawValue)") }
    var url = showingSecrets ? self.url.string : Redaction.url(self.url)
    if self.url.scheme == "ftpes" {
      words.append("--ssl-reqd")
      url = "ftp" + url.dropFirst(5)
    }
    // curl would expand brackets and braces.
    if url.contains(where: { "[]{}".contains($0) }) { words.append("--globoff") }
    words += credentialWords(showingSecrets)
    var fields = isHTTP ? defaultHeaders : [:]
    for name in Set(headers.map(\.name)) { fields[fields: name] = headers[fields: name] }
    for field in fields.asSent.sorted(by: { $0.name.canonicalName < $1.name.canonicalName }) {
      let value = showingSecrets ? field.value : Redaction.value(of: field)
      // With a colon curl would remove the field.
      words.append("-H " + Shell.quoted(value.isEmpty ? "\(field.name.rawName);" : "\(field.name.rawName): \(value)"))
    }
    if let body { words.append(bodyWord(body, showingSecrets)) }
    words.append(Shell.quoted(url))
    return words.joined(separator: " \\\n\t")
  }

  private var isHTTP: Bool { url.scheme == "http" || url.scheme == "https" }

  private func credentialWords(_ showingSecrets: Bool) -> [String] {
    func user(_ credentials: Credentials) -> String {
      "-u " + Shell.quoted("\(credentials.username):\(showingSecrets ? credentials.password : Redaction.mark)")
    }
    switch isHTTP ? credential : nil {
    case .basic(let credentials): return [user(credentials)]
    case .digest(let credentials): return ["--digest", user(credentials)]
    case .negotiateAny(let credentials): return ["--anyauth", user(credentials)]
    case .bearer(let token):
      return ["-H " + Shell.quoted("Authorization: Bearer \(showingSecrets ? token : Redaction.mark)")]
    case nil: return credentials.map { [user($0)] } ?? []
    }
  }

  private func bodyWord(_ body: RequestBody, _ showingSecrets: Bool) -> String {
    if case .file(let path) = body {
      return isHTTP ? "--data-binary " + Shell.quoted("@\(path)") : "-T " + Shell.quoted(path)
    }
    guard case .data(let data) = body else { return "--data-binary " + Shell.quoted("@<several pieces>") }
    // A word of a command has at most 128 KiB (execve(2)), and no NUL.
    if data.count <= 64 * 1024, let text = String(validating: data, as: UTF8.self), !text.contains("\0"),
      let shown = showingSecrets ? text : shown(text)
    {
      return "--data-raw " + Shell.quoted(shown)
    }
    return "--data-binary " + Shell.quoted("@<\(data.count) bytes>")
  }

  /// `nil` for text that may contain secrets without names.
  private func shown(_ text: String) -> String? {
    let type = headers[.contentType].map { MediaType($0).essence } ?? ""
    if type == "application/x-www-form-urlencoded" { return Redaction.pairs(text) }
    guard type == "application/json" || type.hasSuffix("+json"),
      let value = try? JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
    else { return nil }
    let hidden = Redaction.json(value)
    if hidden == value { return text }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return (try? encoder.encode(hidden)).map { String(decoding: $0, as: UTF8.self) }
  }
}

extension Request {
  /// The last request as a `curl` command; see `TransferRequest.cURLDescription`. Before the first attempt, a sentence
  /// that says that no request was sent; `cURLDescription(calling:)` waits for the request.
  public func cURLDescription(showingSecrets: Bool = false) -> String {
    guard let request else { return "no request was sent yet" }
    return request.cURLDescription(in: control.core.session, showingSecrets: showingSecrets)
  }
}

extension TransferRequest {
  /// The command with the default fields of a session.
  func cURLDescription(in session: Session, showingSecrets: Bool = false) -> String {
    var request = self
    request.headers = session.headerFields(of: request)
    // The token is in a header field now.
    if case .bearer? = request.credential { request.credential = nil }
    return request.cURLDescription(showingSecrets: showingSecrets)
  }
}

extension TransferRequest: CustomDebugStringConvertible, CustomReflectable {
  /// The `curl` command, without secrets.
  public var debugDescription: String { cURLDescription() }

  /// Keeps secrets out of `dump` and of the output of test libraries.
  public var customMirror: Mirror { Mirror(self, children: ["curl": debugDescription]) }
}

/// Quotes words for a POSIX shell (POSIX.1-2024 §2.2.2).
enum Shell {
  static func quoted(_ word: String) -> String { "'" + word.replacing("'", with: #"'\''"#) + "'" }
}
