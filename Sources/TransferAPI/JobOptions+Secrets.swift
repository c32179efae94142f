import WireValues

extension JobOptions {
  /// What people may see: without userinfo and secret items of URLs, without the values of secret header fields and form
  /// fields.
  public func redacted() -> JobOptions { withoutSecrets().open }

  /// The options without their secrets, and the secrets.
  public func withoutSecrets() -> (open: JobOptions, secrets: OptionSecrets) {
    var remover = SecretRemover()
    var open = self
    // The visitor does not throw.
    try? open.visit(&remover)
    return (open, remover.secrets)
  }

  /// Puts secrets back where `withoutSecrets()` took them from.
  public mutating func insert(_ secrets: OptionSecrets) {
    guard !secrets.isEmpty else { return }
    var inserter = SecretInserter(secrets: secrets)
    try? visit(&inserter)
  }

  /// Whether a secret was redacted and its place is now empty: the job would not work.
  public var areRedacted: Bool {
    var finder = RedactionFinder()
    var options = self
    try? options.visit(&finder)
    return finder.hasFound
  }
}

/// Passes over the options that cannot hold secrets.
private protocol SecretVisitor: OptionVisitor {}

extension SecretVisitor {
  func option<Value: Codable & Equatable & Sendable>(
    _ name: String, _ value: inout Value, default standard: Value
  ) throws {}
}

private struct SecretRemover: SecretVisitor {
  var secrets = OptionSecrets()

  mutating func url(_ name: String, _ value: inout String?) throws {
    guard let url = value else { return }
    let open = Secrets.redacting(url: url)
    guard open != url else { return }
    secrets.urls[name] = url
    value = open
  }

  mutating func urls(_ name: String, _ value: inout [String]) throws {
    for (index, url) in value.enumerated() {
      let open = Secrets.redacting(url: url)
      guard open != url else { continue }
      secrets.lists[name, default: [:]][index] = url
      value[index] = open
    }
  }

  mutating func headers(_ name: String, _ value: inout [String: String]) throws {
    let hidden = value.filter { Secrets.isSecret(headerName: $0.key) }
    for name in hidden.keys { value[name] = nil }
    secrets.headers.merge(hidden) { $1 }
  }

  mutating func form(_ name: String, _ value: inout [FormField]) throws {
    for (index, field) in value.enumerated() where field.hasSecretName {
      guard case .text(let text) = field.value else { continue }
      value[index].value = .text(SecretNames.mark)
      secrets.form[index] = text
    }
  }
}

private struct SecretInserter: SecretVisitor {
  let secrets: OptionSecrets

  func url(_ name: String, _ value: inout String?) throws {
    if let url = secrets.urls[name] { value = url }
  }

  func urls(_ name: String, _ value: inout [String]) throws {
    for (index, url) in secrets.lists[name] ?? [:] where value.indices.contains(index) { value[index] = url }
  }

  func headers(_ name: String, _ value: inout [String: String]) throws {
    value.merge(secrets.headers) { $1 }
  }

  func form(_ name: String, _ value: inout [FormField]) throws {
    for (index, text) in secrets.form where value.indices.contains(index) { value[index].value = .text(text) }
  }
}

private struct RedactionFinder: SecretVisitor {
  var hasFound = false

  mutating func url(_ name: String, _ value: inout String?) throws {
    if let value, Secrets.isRedacted(url: value) { hasFound = true }
  }

  mutating func urls(_ name: String, _ value: inout [String]) throws {
    if value.contains(where: Secrets.isRedacted(url:)) { hasFound = true }
  }

  mutating func form(_ name: String, _ value: inout [FormField]) throws {
    if value.contains(where: { $0.hasSecretName && $0.value == .text(SecretNames.mark) }) { hasFound = true }
  }
}

extension FormField {
  /// Whether its text is a secret, as the value of a query item or of a header field with this name would be.
  fileprivate var hasSecretName: Bool { Secrets.isSecret(queryName: name) || Secrets.isSecret(headerName: name) }
}
