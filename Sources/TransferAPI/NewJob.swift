/// What a client asks for: the body of `POST /v1/jobs`, a line of `POST /v1/jobs:batch`, a line of `-i`.
///
/// Only `source` is required in JSON; `url` is accepted in its place. Unknown fields are an error, so that a
/// misspelt option is never accepted and ignored. Paths are absolute: the daemon has no idea of the client's
/// current directory.
public struct NewJob: Equatable, Sendable {
  public var kind: JobKind = .download
  public var source: String
  /// Absolute path of the file. Either this or `directory`.
  public var destination: String?
  /// Absolute path of a directory; the name comes from the URL, or from the response.
  public var directory: String?
  /// Take the name from Content-Disposition where the server gives one (`-J`). Only with `directory`.
  public var nameFromResponse = false
  public var createDirectories = false
  public var replace = false
  /// `ALG=HEX`.
  public var checksum: String?
  public var headers: [String: String] = [:]
  public var batch: String?
  public var key: String?
  public var priority = 0
  public var paused = false
  /// Bytes a second.
  public var limitRate: Int64?
  /// Tries in a row without progress; `nil` means the daemon's default (20).
  public var maxAttempts: Int?
  /// Seconds.
  public var connectTimeout: Double?
  /// Seconds without progress.
  public var stallTimeout: Double?

  public init(source: String) { self.source = source }
}

extension NewJob: Codable {
  private enum CodingKeys: String, CodingKey, CaseIterable {
    case kind, source, url, destination, directory, nameFromResponse, createDirectories, replace
    case checksum, headers, batch, key, priority, paused, limitRate, maxAttempts, connectTimeout
    case stallTimeout
  }

  /// - Throws: `WireError` for an unknown or malformed field.
  public init(from decoder: any Decoder) throws {
    try decoder.refuseUnknownFields(besides: CodingKeys.self)
    let container = try decoder.container(keyedBy: CodingKeys.self)
    guard
      let source = try container.decodeIfPresent(String.self, forKey: .source)
        ?? container.decodeIfPresent(String.self, forKey: .url)
    else { throw WireError("missing field \"source\"") }
    self.init(source: source)
    kind = try container.decodeIfPresent(JobKind.self, forKey: .kind) ?? .download
    destination = try container.decodeIfPresent(String.self, forKey: .destination)
    directory = try container.decodeIfPresent(String.self, forKey: .directory)
    nameFromResponse = try container.decodeIfPresent(Bool.self, forKey: .nameFromResponse) ?? false
    createDirectories = try container.decodeIfPresent(Bool.self, forKey: .createDirectories) ?? false
    replace = try container.decodeIfPresent(Bool.self, forKey: .replace) ?? false
    checksum = try container.decodeIfPresent(String.self, forKey: .checksum)
    headers = try container.decodeIfPresent([String: String].self, forKey: .headers) ?? [:]
    batch = try container.decodeIfPresent(String.self, forKey: .batch)
    key = try container.decodeIfPresent(String.self, forKey: .key)
    priority = try container.decodeIfPresent(Int.self, forKey: .priority) ?? 0
    paused = try container.decodeIfPresent(Bool.self, forKey: .paused) ?? false
    limitRate = try container.decodeIfPresent(ByteRate.self, forKey: .limitRate)?.bytesPerSecond
    maxAttempts = try container.decodeIfPresent(Int.self, forKey: .maxAttempts)
    connectTimeout = try container.decodeIfPresent(TimeSpan.self, forKey: .connectTimeout)?.seconds
    stallTimeout = try container.decodeIfPresent(TimeSpan.self, forKey: .stallTimeout)?.seconds
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(kind, forKey: .kind)
    try container.encode(source, forKey: .source)
    try container.encodeIfPresent(destination, forKey: .destination)
    try container.encodeIfPresent(directory, forKey: .directory)
    if nameFromResponse { try container.encode(true, forKey: .nameFromResponse) }
    if createDirectories { try container.encode(true, forKey: .createDirectories) }
    if replace { try container.encode(true, forKey: .replace) }
    try container.encodeIfPresent(checksum, forKey: .checksum)
    if !headers.isEmpty { try container.encode(headers, forKey: .headers) }
    try container.encodeIfPresent(batch, forKey: .batch)
    try container.encodeIfPresent(key, forKey: .key)
    if priority != 0 { try container.encode(priority, forKey: .priority) }
    if paused { try container.encode(true, forKey: .paused) }
    try container.encodeIfPresent(limitRate, forKey: .limitRate)
    try container.encodeIfPresent(maxAttempts, forKey: .maxAttempts)
    try container.encodeIfPresent(connectTimeout, forKey: .connectTimeout)
    try container.encodeIfPresent(stallTimeout, forKey: .stallTimeout)
  }
}
