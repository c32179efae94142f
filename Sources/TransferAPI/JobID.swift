/// The permanent number of a job: assigned by the store, never used twice in one state directory.
public struct JobID: RawRepresentable, Codable, Hashable, Comparable, Sendable, CustomStringConvertible {
  public let rawValue: Int64

  public init(rawValue: Int64) { self.rawValue = rawValue }
  public init(_ rawValue: Int64) { self.rawValue = rawValue }

  /// Parses what a person types: decimal digits, 1 or more. Anything else is `nil`.
  public init?(_ text: some StringProtocol) {
    guard let number = Int64(text), number > 0 else { return nil }
    self.rawValue = number
  }

  public var description: String { String(rawValue) }

  public static func < (lhs: JobID, rhs: JobID) -> Bool { lhs.rawValue < rhs.rawValue }
}
