import WireValues

/// The facts about a file that a template can use.
public struct UploadedFile: Equatable, Sendable {
  /// Absolute.
  public var path: String
  public var relativePath: String
  public var size: Int64
  public var modifiedSeconds: Int64
  public var modifiedNanoseconds: Int64
  /// Lower-case hexadecimal; computed only where a template wants it.
  public var sha256: String?

  public init(
    path: String, relativePath: String, size: Int64, modifiedSeconds: Int64, modifiedNanoseconds: Int64,
    sha256: String? = nil
  ) {
    self.path = path
    self.relativePath = relativePath
    self.size = size
    self.modifiedSeconds = modifiedSeconds
    self.modifiedNanoseconds = modifiedNanoseconds
    self.sha256 = sha256
  }

  public var name: String { String(path.baseName) }

  func value(of field: UploadTemplate.Field) -> String {
    switch field {
    case .path: return path
    case .name: return name
    case .relpath: return relativePath
    case .size: return String(size)
    case .mtime:
      let digits = String(modifiedNanoseconds)
      return "\(modifiedSeconds)." + String(repeating: "0", count: max(0, 9 - digits.count)) + digits
    case .sha256: return sha256 ?? ""
    }
  }
}
