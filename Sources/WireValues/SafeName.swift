/// Makes file names of suggestions that come from servers and URLs: one path component without control characters, without a
/// leading dot or dash, of at most 255 bytes.
public enum SafeName {
  /// Linux's NAME_MAX.
  public static let maximumBytes = 255

  /// The suggestion made safe; `nil` if nothing of it is left. Of a path only the last component counts.
  public static func made(of suggestion: String) -> String? {
    var scalars: [Unicode.Scalar] = []
    for scalar in suggestion.unicodeScalars {
      if scalar == "/" || scalar == "\\" {
        scalars.removeAll(keepingCapacity: true)
      } else if scalar.value > 0x1F, scalar.value != 0x7F, !(0x80...0x9F).contains(scalar.value),
        !(0x202A...0x202E).contains(scalar.value), !(0x2066...0x2069).contains(scalar.value)
      {
        scalars.append(scalar)  // no control characters, no bidirectional tricks
      }
    }
    while let last = scalars.last, last == "." || last == " " { scalars.removeLast() }
    var name = String.UnicodeScalarView()
    name.append(contentsOf: scalars.drop { $0 == " " })
    guard let first = name.first else { return nil }
    if first == "." || first == "-" || first == "~" {
      name.removeFirst()
      name.insert("_", at: name.startIndex)
    }
    return shortened(String(name), to: maximumBytes)
  }

  /// The name that a URL's path suggests: its last segment, decoded before it is split, so that `%2F` and `%2e%2e` have no
  /// effect. `nil` if nothing usable is left.
  public static func made(ofURLPath path: String) -> String? {
    let last = path.baseName
    return made(of: last.percentDecoded ?? String(last))
  }

  /// Cuts at the boundary of a scalar, and keeps a short extension; in one pass, because a server's name may have any
  /// length. Never empty: `limit` is larger than the longest extension.
  public static func shortened(_ name: String, to limit: Int) -> String {
    let bytes = Array(name.utf8)
    guard bytes.count > limit else { return name }
    var ending = bytes[bytes.endIndex...]
    if let dot = bytes.lastIndex(of: UInt8(ascii: ".")), dot > 0, bytes[dot...].count <= longestExtension {
      ending = bytes[dot...]
    }
    var end = min(limit, bytes.count) - ending.count
    // The bytes after a scalar's first one are 10xxxxxx.
    while end > 0, bytes[end] & 0xC0 == 0x80 { end -= 1 }  // checked: end is above 0
    // A name never ends with a dot or a blank, and its first byte is neither.
    // checked: end is above 1
    while ending.isEmpty, end > 1, bytes[end - 1] == UInt8(ascii: ".") || bytes[end - 1] == UInt8(ascii: " ") {
      end -= 1  // checked: end is above 1
    }
    return String(decoding: bytes[..<end] + ending, as: UTF8.self)
  }

  private static let longestExtension = 16
}
