/// The names that a file may get if its own is taken: `a.tar.gz`, `a.tar.1.gz`, `a.tar.2.gz`, …; `.rc`, `.rc.1`, ….
///
/// The number stands before the last extension. A name that is too long for the number is shortened before it.
struct NumberedNames: Sequence, IteratorProtocol {
  /// The largest number. A directory with so many copies of a file is a mistake that should be noticed.
  static let maximumNumber = 9999

  /// With its dot. What is longer is no extension, and could not stay if the name is shortened.
  private static let longestExtension = 16

  private let stem: String
  private let ending: String
  private var number = 0

  init(_ name: String) {
    (stem, ending) = Self.split(name)
  }

  mutating func next() -> String? {
    guard number <= Self.maximumNumber else { return nil }
    defer { number += 1 }  // checked: at most the largest number
    guard number > 0 else { return stem + ending }
    let added = ".\(number)" + ending
    return Self.shortened(stem, by: added.utf8.count) + added
  }

  /// Splits before the last extension. The dots at the beginning of a hidden file's name begin no extension.
  private static func split(_ name: String) -> (stem: String, ending: String) {
    let bytes = Array(name.utf8)
    let dot = UInt8(ascii: ".")
    guard let first = bytes.firstIndex(where: { $0 != dot }), let last = bytes.lastIndex(of: dot), last > first,
      (2...longestExtension).contains(bytes.count - last)  // checked: counts the bytes of a name
    else { return (name, "") }
    return (String(decoding: bytes[..<last], as: UTF8.self), String(decoding: bytes[last...], as: UTF8.self))
  }

  /// Cuts at the boundary of a scalar, so that this many bytes fit behind it.
  private static func shortened(_ stem: String, by count: Int) -> String {
    let limit = SafeFileName.maximumBytes - count  // checked: counts the bytes of a name
    var scalars = stem.unicodeScalars
    var size = stem.utf8.count
    while size > limit, let last = scalars.popLast() { size -= String(last).utf8.count }  // checked: its own bytes
    return String(scalars)
  }
}
