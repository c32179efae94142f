import FoundationEssentials
import TransferAPI

/// The secrets of a job: stored apart from its row, in the table `secret`, where they can be erased.
struct JobSecrets: Equatable {
  var username: String?
  var password: String?
  /// The whole URL, if its query holds a secret.
  var url: String?
  var options = OptionSecrets()
  /// The same of a relay's target.
  var target: Target?

  struct Target: Codable, Equatable {
    var username: String?
    var password: String?
    var url: String?
  }

  init() {}

  /// Puts every secret back in its place.
  func fill(_ spec: inout JobSpec) {
    if let username, let password { spec.credentials = .init(username: username, password: password) }
    if let url { spec.url = url }
    spec.options.insert(options)
    guard let target else { return }
    if let username = target.username, let password = target.password {
      spec.relay?.credentials = .init(username: username, password: password)
    }
    if let url = target.url { spec.destination = url }
  }

  func encoded() throws -> Data { try WireCoding.encoder().encode(self) }

  init(_ data: Data) throws { self = try WireCoding.decoder().decode(JobSecrets.self, from: data) }
}

extension JobSecrets: Codable {
  private enum CodingKeys: String, CodingKey { case username, password, url, target }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    username = try container.decodeIfPresent(String.self, forKey: .username)
    password = try container.decodeIfPresent(String.self, forKey: .password)
    url = try container.decodeIfPresent(String.self, forKey: .url)
    target = try container.decodeIfPresent(Target.self, forKey: .target)
    options = try OptionSecrets(from: decoder)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encodeIfPresent(username, forKey: .username)
    try container.encodeIfPresent(password, forKey: .password)
    try container.encodeIfPresent(url, forKey: .url)
    try container.encodeIfPresent(target, forKey: .target)
    try options.encode(to: encoder)
  }
}

extension JobSpec {
  /// The job without secrets, as its row stores it, and its secrets. They are `nil` if there are none, as for most
  /// jobs.
  func split() -> (open: JobSpec, secrets: JobSecrets?) {
    var open = self
    var secrets = JobSecrets()
    secrets.username = credentials?.username
    secrets.password = credentials?.password
    open.credentials = nil
    (open.url, secrets.url) = Self.split(url: url)
    if relay != nil {
      open.relay?.credentials = nil
      (open.destination, secrets.target) = (storedDestination, targetSecrets)
    }
    if options != JobOptions() { (open.options, secrets.options) = options.withoutSecrets() }
    return secrets == JobSecrets() ? (self, nil) : (open, secrets)
  }

  /// The destination as the row stores it. Uploads to the same place have the same stored destination.
  var storedDestination: String { sendsToURL ? Self.split(url: destination).open : destination }

  /// The secrets of a relay's target; `nil` if there are none, and for other jobs.
  var targetSecrets: JobSecrets.Target? {
    guard let relay else { return nil }
    let target = JobSecrets.Target(
      username: relay.credentials?.username, password: relay.credentials?.password,
      url: Self.split(url: destination).secret)
    return target == JobSecrets.Target() ? nil : target
  }

  /// The URL without its secrets, and the secret URL. A hash of 16 bits is appended, so that uploads to URLs that
  /// differ only in a secret do not wait for each other. The hash is too short to reveal the secret.
  static func split(url: String) -> (open: String, secret: String?) {
    guard url.utf8.contains(UInt8(ascii: "?")) else { return (url, nil) }
    let open = Secrets.redacting(url: url)
    guard open != url else { return (url, nil) }
    // FNV-1a
    let hash = url.utf8.reduce(UInt64(0xCBF2_9CE4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    let mark = String(UInt16(truncatingIfNeeded: hash ^ hash >> 16 ^ hash >> 32 ^ hash >> 48), radix: 16)
    return ("\(open)#\(mark)", url)
  }
}
