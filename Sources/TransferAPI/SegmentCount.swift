/// How many connections fetch one file: a number from 1 to 32, or `auto`.
///
/// In JSON a number, or the text `"auto"`.
public enum SegmentCount: Codable, Equatable, Sendable {
  /// One, and up to four for large files while more of them help.
  case automatic
  /// This many at once.
  case fixed(Int)

  /// The most connections of one file.
  public static let maximum = 32

  /// - Throws: `WireError` for anything but `auto` and a number from 1 to 32.
  public init(parsing text: String) throws(WireError) {
    if text == "auto" {
      self = .automatic
    } else {
      guard let number = Int(text), (1...Self.maximum).contains(number), text == String(number) else {
        throw Self.refusal
      }
      self = .fixed(number)
    }
  }

  private static let refusal = WireError(text: "\(field: "segments") must be a number from 1 to \(maximum), or auto")

  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let number = try? container.decode(Int.self) {
      guard (1...Self.maximum).contains(number) else { throw Self.refusal }
      self = .fixed(number)
    } else {
      self = try Self(parsing: container.decode(String.self))
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .automatic: try container.encode("auto")
    case .fixed(let count): try container.encode(count)
    }
  }
}

extension SegmentCount: CustomStringConvertible {
  public var description: String {
    switch self {
    case .automatic: "auto"
    case .fixed(let count): String(count)
    }
  }
}
