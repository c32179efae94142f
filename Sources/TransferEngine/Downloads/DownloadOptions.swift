/// Alamofire's options. They take effect atomically, after validation.
public struct DownloadOptions: OptionSet, Sendable, Codable {
  public let rawValue: Int
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Creates missing directories on the path to the destination.
  public static let createIntermediateDirectories = DownloadOptions(rawValue: 1 << 0)
  /// Replaces an existing file at the destination, by one rename, when the new file is complete.
  public static let removePreviousFile = DownloadOptions(rawValue: 1 << 1)
}
