/// What a client asks for: the body of `POST /v1/folders`. A flat object: the fields of the folder, and the options of its uploads.
public struct NewFolder: Equatable, Sendable {
  /// An absolute path.
  public var directory: String
  /// The template of the target URL, as for `upload --to`.
  public var to: String
  /// Seconds for which size and time of a file must not change; `nil`: ``standardSettle``.
  public var settle: Double?
  /// Files in subdirectories, too.
  public var recursive = false
  /// Pass over the files that are in the directory when it is added.
  public var newOnly = false
  public var batch: String?
  public var priority = 0
  /// Options of uploads, without secrets.
  public var options = JobOptions()

  public static let standardSettle = 10.0

  public init(directory: String, to: String) {
    self.directory = directory
    self.to = to
  }

  /// Whether a place below `options` holds a secret. A folder must not: it lives long, and names them by references.
  public var hasSecrets: Bool {
    !options.withoutSecrets().secrets.isEmpty || Secrets.redacting(url: to) != to
  }

  /// The job of a file, without source, destination and key.
  public var job: NewJob {
    var job = NewJob(uploading: "", to: to)
    (job.batch, job.priority, job.options) = (batch, priority, options)
    return job
  }
}

extension NewFolder: Codable {
  fileprivate enum CodingKeys: String, CodingKey, CaseIterable {
    case directory, to, settle, recursive, newOnly, batch, priority
  }

  /// The names of all fields in JSON.
  public static let names = JobOptions.names.union(CodingKeys.allCases.map(\.rawValue))

  /// - Throws: `WireError` for an unknown or malformed field.
  public init(from decoder: any Decoder) throws {
    _ = try decoder.fieldNames(known: Self.names.contains)
    let container = try decoder.container(keyedBy: CodingKeys.self)
    for key in [CodingKeys.directory, .to] where !container.contains(key) {
      throw WireError(text: "missing field \"\(field: key.rawValue)\"")
    }
    self.init(
      directory: try container.decode(String.self, forKey: .directory),
      to: try container.decode(String.self, forKey: .to))
    do {
      settle = try container.decodeIfPresent(TimeSpan.self, forKey: .settle)?.seconds
    } catch let error as WireError {
      throw error.about("settle")
    }
    recursive = try container.decodeIfPresent(Bool.self, forKey: .recursive) ?? false
    newOnly = try container.decodeIfPresent(Bool.self, forKey: .newOnly) ?? false
    batch = try container.decodeIfPresent(String.self, forKey: .batch)
    priority = try container.decodeIfPresent(Int.self, forKey: .priority) ?? 0
    options = try JobOptions(from: decoder)
    // The field of the folder; listings have an option of the same name.
    options.listing.recursive = false
    if let name = options.listing.firstGiven { throw WireError(text: "\(field: name) is for listings") }
    if let name = options.firstDownloadOption { throw WireError(text: "\(field: name) is for downloads") }
    if options.upload.collection != nil {
      throw WireError(text: "\(field: "collection") follows from \(field: "to"); leave it out")
    }
  }

  /// Writes only what differs from the defaults.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(directory, forKey: .directory)
    try container.encode(to, forKey: .to)
    try container.encodeIfPresent(settle, forKey: .settle)
    if recursive { try container.encode(true, forKey: .recursive) }
    if newOnly { try container.encode(true, forKey: .newOnly) }
    try container.encodeIfPresent(batch, forKey: .batch)
    if priority != 0 { try container.encode(priority, forKey: .priority) }
    try options.encode(to: encoder)
  }
}
