import WireValues

/// The canonical forms of the parts of a URL.
enum AWSCanonical {
  /// Every byte except letters, digits and `-._~` is encoded; slashes stay.
  private static let pathCharacters = AllowedCharacters.unreserved.union(.init(charactersIn: "/"))

  /// - Parameters:
  ///   - path: the path as it is sent.
  ///   - isNormalized: resolve dot segments and double slashes. Not for S3, where they may be part of an object's key.
  ///   - isEncodedTwice: encode it again, including percent signs. S3 encodes once.
  static func path(_ path: String, isNormalized: Bool, isEncodedTwice: Bool) -> String {
    let path = path.isEmpty ? "/" : isNormalized ? normalized(path) : path
    let plain = isEncodedTwice ? Array(path.utf8) : decoded(path)
    return String(decoding: plain, as: UTF8.self).percentEncoded(allowing: pathCharacters)
  }

  private static func normalized(_ path: String) -> String {
    var segments: [Substring] = []
    for segment in path.componentsOfPath where segment != "." {
      if segment == ".." { _ = segments.popLast() } else { segments.append(segment) }
    }
    let isDirectory = path.hasSuffix("/") || path.hasSuffix("/.") || path.hasSuffix("/..")
    return "/" + segments.joined(separator: "/") + (isDirectory && !segments.isEmpty ? "/" : "")
  }

  /// Decodes and encodes names and values again, and sorts them; a name without `=` gets one.
  static func query(_ query: String) -> String {
    pairs(query).sorted { $0.name == $1.name ? $0.value < $1.value : $0.name < $1.name }
      .map { "\($0.name)=\($0.value)" }.joined(separator: "&")
  }

  static func pairs(_ query: String) -> [(name: String, value: String)] {
    query.split(atASCII: "&").map { pair in
      let parts = pair.split(atASCII: "=", maximum: 1, keepsEmpty: true)
      return (encoded(parts[0]), parts.count > 1 ? encoded(parts[1]) : "")
    }
  }

  private static func encoded(_ text: Substring) -> String {
    String(decoding: decoded(text), as: UTF8.self).percentEncoded(allowing: .unreserved)
  }

  /// A percent sign without two digits stays.
  private static func decoded(_ text: some StringProtocol) -> [UInt8] {
    let bytes = Array(text.utf8)
    return PercentEscapes.decoded(bytes, keepsInvalid: true) ?? bytes
  }
}
