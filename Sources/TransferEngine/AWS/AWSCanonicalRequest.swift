/// A request in the form that both sides hash (docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html).
struct AWSCanonicalRequest {
  var method: String
  /// Canonical already.
  var path: String
  /// Canonical already.
  var query: String
  /// Names in any case; a name may come more than once.
  var headers: [(name: String, value: String)]
  var payloadHash: String

  /// Names in lower case, sorted, separated by `;`.
  var signedHeaders: String { grouped.map(\.name).joined(separator: ";") }

  var text: String {
    let lines = grouped.map { "\($0.name):\($0.values.joined(separator: ","))\n" }.joined()
    return [method, path, query, lines, signedHeaders, payloadHash].joined(separator: "\n")
  }

  /// Values of one name keep their order.
  private var grouped: [(name: String, values: [String])] {
    var values: [String: [String]] = [:]
    for (name, value) in headers { values[name.lowercased(), default: []].append(Self.collapsed(value)) }
    return values.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// Without blanks around it, and with one for each run of blanks.
  private static func collapsed(_ value: String) -> String {
    value.trimmingBlanks().split(separator: " ").joined(separator: " ")
  }
}

/// The canonical forms of what a URL holds.
enum AWSCanonical {
  /// Every byte but letters, digits and `-._~` is encoded; slashes stay.
  private static let pathCharacters = AllowedCharacters.unreserved.union(.init(charactersIn: "/"))

  /// - Parameters:
  ///   - path: as it goes over the wire.
  ///   - isNormalized: dot segments and doubled slashes are resolved. S3 does not: they may be in an object's key.
  ///   - isEncodedTwice: encoded as it is, percent signs and all. S3 encodes once.
  static func path(_ path: String, isNormalized: Bool, isEncodedTwice: Bool) -> String {
    let path = path.isEmpty ? "/" : isNormalized ? normalized(path) : path
    let plain = isEncodedTwice ? Array(path.utf8) : decoded(path)
    return String(decoding: plain, as: UTF8.self).percentEncoded(allowing: pathCharacters)
  }

  private static func normalized(_ path: String) -> String {
    var segments: [Substring] = []
    for segment in path.split(separator: "/") where segment != "." {
      if segment == ".." { _ = segments.popLast() } else { segments.append(segment) }
    }
    let isDirectory = path.hasSuffix("/") || path.hasSuffix("/.") || path.hasSuffix("/..")
    return "/" + segments.joined(separator: "/") + (isDirectory && !segments.isEmpty ? "/" : "")
  }

  /// Names and values decoded and encoded anew, sorted; a name without `=` gets one.
  static func query(_ query: String) -> String {
    pairs(query).sorted { $0.name == $1.name ? $0.value < $1.value : $0.name < $1.name }
      .map { "\($0.name)=\($0.value)" }.joined(separator: "&")
  }

  static func pairs(_ query: String) -> [(name: String, value: String)] {
    query.split(separator: "&").map { pair in
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return (encoded(parts[0]), parts.count > 1 ? encoded(parts[1]) : "")
    }
  }

  private static func encoded(_ text: Substring) -> String {
    String(decoding: decoded(String(text)), as: UTF8.self).percentEncoded(allowing: .unreserved)
  }

  /// `%XX` undone; a percent sign that begins no such thing stays.
  static func decoded(_ text: String) -> [UInt8] {
    let bytes = Array(text.utf8)
    var plain: [UInt8] = []
    var index = 0
    while index < bytes.count {
      if bytes[index] == 0x25, index + 2 < bytes.count, let high = digit(bytes[index + 1]),
        let low = digit(bytes[index + 2])
      {
        plain.append(high << 4 | low)
        index += 3
      } else {
        plain.append(bytes[index])
        index += 1
      }
    }
    return plain
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x41 + 10
    case 0x61...0x66: byte - 0x61 + 10
    default: nil
    }
  }
}
