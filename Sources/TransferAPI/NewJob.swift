/// What a client asks for: the body of `POST /v1/jobs`, a line of `POST /v1/jobs:batch`, a line of `-i`.
///
/// JSON requires only `source`; `url` is another name for it. An unknown field is an error, so that a misspelt option is never
/// ignored. Paths are absolute: the daemon does not know the client's current directory. An upload has the file as its
/// `source` and the URL as its `destination`. `thenUpload` makes a job a relay and is its `destination`.
public struct NewJob: Equatable, Sendable {
  public var kind: JobKind = .download
  public var source: String
  /// Absolute path of the file. Either this or `directory`. An upload or a relay: the URL of the target.
  public var destination: String?
  /// Absolute path of a directory; the name comes from the URL, or from the response.
  public var directory: String?
  public var batch: String?
  public var key: String?
  public var priority = 0
  public var paused = false
  /// An upload may name this in place of `source`: the token that `/v1/spool` gave for content from standard input.
  public var spool: String?
  public var options = JobOptions()

  public init(source: String) { self.source = source }

  /// An upload of the file at `path`.
  public init(uploading path: String, to url: String) {
    kind = .upload
    source = path
    destination = url
  }

  /// Takes the options of a command, which apply to every job, from a template.
  /// - Parameter given: the names of the fields that keep their own value. Header fields are merged name by name.
  public mutating func fill(from template: NewJob, except given: Set<String>) {
    if !given.contains("batch") { batch = template.batch }
    if !given.contains("key") { key = template.key }
    if !given.contains("priority") { priority = template.priority }
    if !given.contains("paused") { paused = template.paused }
    options.fill(from: template.options, except: given)
  }
}

extension CodingUserInfoKey {
  /// The `JobKind` of new jobs whose JSON has no `kind`; without it they are downloads.
  public static let newJobKind = CodingUserInfoKey(rawValue: "transferd.newJobKind")!
  /// `true`: the JSON holds the common options of many jobs (the header field `Job-Options`), so it has no source.
  public static let newJobIsTemplate = CodingUserInfoKey(rawValue: "transferd.newJobIsTemplate")!
}

extension NewJob: Codable {
  private enum CodingKeys: String, CodingKey, CaseIterable {
    case kind, source, url, destination, thenUpload, directory, batch, key, priority, paused, spool
  }

  /// The header field of `POST /v1/jobs:batch` with the common options of a list.
  public static let optionsField = "Job-Options"
  /// The most bytes that ``optionsField`` may have.
  public static let maximumOptionsBytes = 8 << 10

  /// The names of all fields in JSON.
  public static let names = JobOptions.names.union(CodingKeys.allCases.map(\.rawValue))

  /// - Throws: `WireError` for an unknown or malformed field.
  public init(from decoder: any Decoder) throws {
    let given = try decoder.fieldNames(known: Self.names.contains)
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let spool = try container.decodeIfPresent(String.self, forKey: .spool)
    guard !container.contains(.source) || !container.contains(.url) else {
      throw WireError(text: "give either \(field: "source") or \(field: "url"), not both")
    }
    let isTemplate = decoder.userInfo[.newJobIsTemplate] as? Bool ?? false
    if isTemplate, let name = ["source", "url", "spool"].first(where: given.contains) {
      throw WireError(text: "\(field: name) is not a common option: the body lists the sources")
    }
    guard
      let source = try container.decodeIfPresent(String.self, forKey: .source)
        ?? container.decodeIfPresent(String.self, forKey: .url) ?? (isTemplate || spool != nil ? "" : nil)
    else { throw WireError(text: "missing field \"\(field: "source")\"") }
    self.init(source: source)
    self.spool = spool
    let expected = decoder.userInfo[.newJobKind] as? JobKind
    options = try JobOptions(from: decoder)
    let named = try container.decodeIfPresent(JobKind.self, forKey: .kind)
    let target = try container.decodeIfPresent(String.self, forKey: .thenUpload)
    kind = named ?? (options.listing.recursive ? .listing : target != nil ? .relay : expected ?? .download)
    if target != nil, kind != .relay {
      throw WireError(text: "\(field: "thenUpload") is for relays, not for \(kind.rawValue)s")
    }
    guard target == nil || !container.contains(.destination) else {
      throw WireError(text: "give either \(field: "thenUpload") or \(field: "destination"), not both")
    }
    if options.listing.recursive, kind != .listing {
      throw WireError(text: "\(field: "recursive") is for listings, not for \(kind.rawValue)s")
    }
    options.listing.recursive = kind == .listing
    if isTemplate, let expected, kind != expected {
      throw WireError(text: "the body lists \(expected.rawValue)s, so \(field: "kind") cannot be \(kind.rawValue)")
    }
    if kind == .relay, spool != nil {
      throw WireError(text: "\(field: "spool") is for uploads, not for relays")
    }
    if kind != .upload, kind != .relay,
      let name = (given + (spool == nil ? [] : ["spool"])).first(where: Self.isForUploads)
    {
      throw WireError(text: "\(field: name) is for uploads: \"kind\":\"upload\"")
    }
    destination = try target ?? container.decodeIfPresent(String.self, forKey: .destination)
    directory = try container.decodeIfPresent(String.self, forKey: .directory)
    batch = try container.decodeIfPresent(String.self, forKey: .batch)
    key = try container.decodeIfPresent(String.self, forKey: .key)
    priority = try container.decodeIfPresent(Int.self, forKey: .priority) ?? 0
    paused = try container.decodeIfPresent(Bool.self, forKey: .paused) ?? false
  }

  private static func isForUploads(_ name: String) -> Bool { name == "spool" || JobOptions.uploadNames.contains(name) }

  /// Writes only what differs from the defaults, `kind` and `source` excepted; a template has neither.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    if !(encoder.userInfo[.newJobIsTemplate] as? Bool ?? false) {
      try container.encode(kind, forKey: .kind)
      if spool == nil || !source.isEmpty { try container.encode(source, forKey: .source) }
    }
    try container.encodeIfPresent(spool, forKey: .spool)
    try container.encodeIfPresent(destination, forKey: kind == .relay ? .thenUpload : .destination)
    try container.encodeIfPresent(directory, forKey: .directory)
    try container.encodeIfPresent(batch, forKey: .batch)
    try container.encodeIfPresent(key, forKey: .key)
    if priority != 0 { try container.encode(priority, forKey: .priority) }
    if paused { try container.encode(true, forKey: .paused) }
    try options.encode(to: encoder, for: kind)
  }
}
