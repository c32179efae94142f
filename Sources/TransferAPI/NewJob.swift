/// What a client asks for: the body of `POST /v1/jobs`, a line of `POST /v1/jobs:batch`, a line of `-i`.
///
/// Only `source` is required in JSON; `url` is accepted in its place. Unknown fields are an error, so that a
/// misspelt option is never accepted and ignored. Paths are absolute: the daemon has no idea of the client's
/// current directory. Of an upload `source` is the file and `destination` the URL.
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
  /// User name and password, `NAME:PASSWORD`, that stand elsewhere.
  public var credentials: SecretReference?
  /// Headers whose values stand elsewhere.
  public var secretHeaders: [String: SecretHeader] = [:]
  /// Of an upload only.
  public var upload = UploadOptions()
  /// Of an upload, in place of `source`: what was handed to `/v1/spool`, by the token that it gave.
  public var spool: String?

  public init(source: String) { self.source = source }

  /// An upload of the file at `path`.
  public init(uploading path: String, to url: String) {
    kind = .upload
    source = path
    destination = url
  }
}

extension CodingUserInfoKey {
  /// The `JobKind` of new jobs that do not say theirs; otherwise they are downloads.
  public static let newJobKind = CodingUserInfoKey(rawValue: "transferd.newJobKind")!
}

extension NewJob: Codable {
  private enum CodingKeys: String, CodingKey, CaseIterable {
    case kind, source, url, destination, directory, nameFromResponse, createDirectories, replace
    case checksum, headers, batch, key, priority, paused, limitRate, maxAttempts, connectTimeout
    case stallTimeout, credentials, secretHeaders, spool
  }

  /// Every field there is: its own, and those of an upload.
  private enum AnyField: CodingKey {
    case own(CodingKeys)
    case upload(UploadOptions.CodingKeys)

    init?(stringValue: String) {
      if let key = CodingKeys(stringValue: stringValue) {
        self = .own(key)
      } else if let key = UploadOptions.CodingKeys(stringValue: stringValue) {
        self = .upload(key)
      } else {
        return nil
      }
    }

    init?(intValue: Int) { nil }
    var intValue: Int? { nil }
    var stringValue: String {
      switch self {
      case .own(let key): key.stringValue
      case .upload(let key): key.stringValue
      }
    }
  }

  /// - Throws: `WireError` for an unknown or malformed field.
  public init(from decoder: any Decoder) throws {
    try decoder.refuseUnknownFields(besides: AnyField.self)
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let spool = try container.decodeIfPresent(String.self, forKey: .spool)
    guard !container.contains(.source) || !container.contains(.url) else {
      throw WireError("give either source or url, not both")
    }
    guard
      let source = try container.decodeIfPresent(String.self, forKey: .source)
        ?? container.decodeIfPresent(String.self, forKey: .url) ?? spool.map({ _ in "" })
    else { throw WireError("missing field \"source\"") }
    self.init(source: source)
    self.spool = spool
    kind =
      try container.decodeIfPresent(JobKind.self, forKey: .kind)
      ?? decoder.userInfo[.newJobKind] as? JobKind ?? .download
    try decodeUpload(from: decoder)
    credentials = try container.decodeIfPresent(SecretReference.self, forKey: .credentials)
    secretHeaders = try container.decodeIfPresent([String: SecretHeader].self, forKey: .secretHeaders) ?? [:]
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

  /// An upload's fields mean nothing in a download: they would be accepted and ignored.
  private mutating func decodeUpload(from decoder: any Decoder) throws {
    guard kind == .upload else {
      let given = try decoder.container(keyedBy: UploadOptions.CodingKeys.self).allKeys
      guard given.isEmpty, spool == nil else {
        throw WireError("\(given.first?.stringValue ?? "spool") is for uploads: \"kind\":\"upload\"")
      }
      return
    }
    upload = try UploadOptions(from: decoder)
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(kind, forKey: .kind)
    if spool == nil || !source.isEmpty { try container.encode(source, forKey: .source) }
    try container.encodeIfPresent(spool, forKey: .spool)
    if kind == .upload { try upload.encode(to: encoder) }
    try container.encodeIfPresent(credentials, forKey: .credentials)
    if !secretHeaders.isEmpty { try container.encode(secretHeaders, forKey: .secretHeaders) }
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
