public import FoundationEssentials

/// A watched directory, as `folder ls` shows it.
public struct WatchedFolder: Equatable, Sendable {
  /// Never used again after the folder was removed.
  public var id: Int64
  public var folder: NewFolder
  /// The uid of the user who added it.
  public var owner: UInt32
  public var createdAt: Date
  /// Versions of files that became uploads.
  public var uploads: Int
  /// Why the directory cannot be watched now, or why the newest file was refused; `nil`: all is well.
  public var error: String?

  public init(
    id: Int64, folder: NewFolder, owner: UInt32, createdAt: Date, uploads: Int = 0, error: String? = nil
  ) {
    self.id = id
    self.folder = folder
    self.owner = owner
    self.createdAt = createdAt
    self.uploads = uploads
    self.error = error
  }
}

extension WatchedFolder: Codable {
  private enum CodingKeys: String, CodingKey {
    case id, directory, to, settle, recursive, newOnly, batch, priority, owner, createdAt, uploads, error, options
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    var folder = NewFolder(
      directory: try container.decode(String.self, forKey: .directory),
      to: try container.decode(String.self, forKey: .to))
    folder.settle = try container.decode(Double.self, forKey: .settle)
    folder.recursive = try container.decode(Bool.self, forKey: .recursive)
    folder.newOnly = try container.decode(Bool.self, forKey: .newOnly)
    folder.batch = try container.decodeIfPresent(String.self, forKey: .batch)
    folder.priority = try container.decode(Int.self, forKey: .priority)
    folder.options = try container.decode(JobOptions.self, forKey: .options)
    self.init(
      id: try container.decode(Int64.self, forKey: .id), folder: folder,
      owner: try container.decode(UInt32.self, forKey: .owner),
      createdAt: try container.decode(Date.self, forKey: .createdAt),
      uploads: try container.decode(Int.self, forKey: .uploads),
      error: try container.decodeIfPresent(String.self, forKey: .error))
  }

  /// Every field is present; `batch` and `error` are null if they are not set.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(id, forKey: .id)
    try container.encode(folder.directory, forKey: .directory)
    try container.encode(folder.to, forKey: .to)
    try container.encode(folder.settle ?? NewFolder.standardSettle, forKey: .settle)
    try container.encode(folder.recursive, forKey: .recursive)
    try container.encode(folder.newOnly, forKey: .newOnly)
    try container.encode(folder.batch, forKey: .batch)
    try container.encode(folder.priority, forKey: .priority)
    try container.encode(owner, forKey: .owner)
    try container.encode(createdAt, forKey: .createdAt)
    try container.encode(uploads, forKey: .uploads)
    try container.encode(error, forKey: .error)
    try container.encode(folder.options, forKey: .options)
  }
}
