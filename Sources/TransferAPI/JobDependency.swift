/// What has to complete before a job begins: another job, or all jobs of a batch.
///
/// In JSON a job is its id, and a batch is the text `batch:NAME`.
public enum JobDependency: Hashable, Sendable {
  case job(JobID)
  case batch(String)

  /// The most dependencies of a job.
  public static let maximum = 64

  private static let prefix = "batch:"

  /// - Throws: `WireError` for anything but an id and `batch:NAME`.
  public init(parsing text: String) throws(WireError) {
    if text.hasPrefix(Self.prefix) {
      let name = String(text.dropFirst(Self.prefix.count))
      guard !name.isEmpty, name.utf8.count <= 1024,
        name.unicodeScalars.allSatisfy({ $0.value > 0x1F && $0.value != 0x7F })
      else { throw WireError("the name of a batch has 1 to 1024 bytes and no control characters") }
      self = .batch(name)
    } else {
      guard let id = JobID(text) else {
        throw WireError("\"\(text.prefix(40))\" is neither the id of a job nor batch:NAME")
      }
      self = .job(id)
    }
  }
}

extension JobDependency: CustomStringConvertible {
  public var description: String {
    switch self {
    case .job(let id): id.description
    case .batch(let name): Self.prefix + name
    }
  }
}

extension JobDependency: Codable {
  /// An id may also be a text, as in lists whose fields are all texts.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let number = try? container.decode(Int64.self) {
      guard number > 0 else { throw WireError("\(number) is not the id of a job") }
      self = .job(JobID(number))
    } else {
      try self.init(parsing: container.decode(String.self))
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .job(let id): try container.encode(id)
    case .batch: try container.encode(description)
    }
  }
}

extension NewJob {
  /// - Throws: `WireError` for a job that would wait for its own batch, and so for itself.
  public func checkDependencies() throws(WireError) {
    guard let batch, options.schedule.after.contains(.batch(batch)) else { return }
    throw WireError(
      text: "\(field: "after") names the job's own batch, batch:\(batch.prefix(100)): it would wait for itself")
  }
}
