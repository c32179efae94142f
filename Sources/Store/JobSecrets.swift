import FoundationEssentials
import TransferAPI

/// What is secret in a job: kept apart from its row, in `secret`, from where it can be erased.
struct JobSecrets: Codable, Equatable {
  var username: String?
  var password: String?
  /// The whole URL, where its query holds a secret.
  var url: String?
  var collection: String?
  var endpoint: String?
  /// Values of header fields.
  var headers: [String: String]?
  /// Texts of form fields, by their position.
  var form: [Int: String]?

  /// Puts everything back in its place.
  func fill(_ spec: inout JobSpec) {
    if let username, let password { spec.credentials = .init(username: username, password: password) }
    if let url { spec.url = url }
    if let collection { spec.upload.collection = collection }
    if let endpoint { spec.upload.endpoint = endpoint }
    if let headers { spec.headers.merge(headers) { $1 } }
    for (index, text) in form ?? [:] where spec.upload.form.indices.contains(index) {
      spec.upload.form[index].value = .text(text)
    }
  }

  func encoded() throws -> Data { try WireCoding.encoder().encode(self) }

  init() {}

  init(_ data: Data) throws { self = try WireCoding.decoder().decode(JobSecrets.self, from: data) }
}

extension JobSpec {
  /// The job as its row shows it, and what the row must not hold; `nil` where nothing is secret, which is the rule.
  func split() -> (open: JobSpec, secrets: JobSecrets?) {
    guard mayHoldSecrets else { return (self, nil) }
    var open = self
    var secrets = JobSecrets()
    secrets.username = credentials?.username
    secrets.password = credentials?.password
    open.credentials = nil
    (open.url, secrets.url) = Self.split(url: url)
    (open.upload.collection, secrets.collection) = Self.split(upload.collection)
    (open.upload.endpoint, secrets.endpoint) = Self.split(upload.endpoint)
    let hidden = headers.filter { Secrets.isSecret(headerName: $0.key) }
    for name in hidden.keys { open.headers[name] = nil }
    if !hidden.isEmpty { secrets.headers = hidden }
    for (index, field) in upload.form.enumerated() {
      guard case .text(let text) = field.value,
        Secrets.isSecret(queryName: field.name) || Secrets.isSecret(headerName: field.name)
      else { continue }
      open.upload.form[index].value = .text("")
      secrets.form = (secrets.form ?? [:]).merging([index: text]) { $1 }
    }
    return secrets == JobSecrets() ? (self, nil) : (open, secrets)
  }

  /// False for most jobs, at next to no cost.
  private var mayHoldSecrets: Bool {
    credentials != nil || !headers.isEmpty || url.utf8.contains(UInt8(ascii: "?")) || upload.collection != nil
      || upload.endpoint != nil || !upload.form.isEmpty
  }

  /// The destination as the row holds it, by which uploads to the same place find each other.
  var storedDestination: String { kind == .upload ? Self.split(url: destination).open : destination }

  private static func split(_ url: String?) -> (open: String?, secret: String?) {
    guard let url else { return (nil, nil) }
    let parts = split(url: url)
    return (parts.open, parts.secret)
  }

  /// A URL without its secrets. 16 bits of a hash stand behind it, so that uploads to places that only a secret tells apart
  /// do not wait for each other; so few that they say nothing of the secret.
  private static func split(url: String) -> (open: String, secret: String?) {
    guard url.utf8.contains(UInt8(ascii: "?")) else { return (url, nil) }
    let open = Secrets.redacting(url: url)
    guard open != url else { return (url, nil) }
    // FNV-1a
    let hash = url.utf8.reduce(UInt64(0xCBF2_9CE4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    let mark = String(UInt16(truncatingIfNeeded: hash ^ hash >> 16 ^ hash >> 32 ^ hash >> 48), radix: 16)
    return ("\(open)#\(mark)", url)
  }
}
