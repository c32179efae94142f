import FoundationEssentials
import HTTPTypes

/// How the bytes of a text are decoded.
struct TextCharset {
  /// The name in the response.
  let name: String
  /// `nil` if it is unknown here.
  let encoding: String.Encoding?

  init(_ encoding: String.Encoding) {
    self.encoding = encoding
    name = Self.names.first { $0.1 == encoding }?.0 ?? "\(encoding)"
  }

  init(named name: String) {
    self.name = name
    let lowered = name.lowercased()
    encoding = Self.names.first { $0.0 == lowered }?.1
  }

  /// The `charset` of Content-Type, or else ISO-8859-1, as in Alamofire. JSON and event streams are UTF-8 by default
  /// (RFC 8259 §8.1, WHATWG HTML §9.2.5); an explicit charset has precedence.
  static func of(_ head: ResponseHead) -> TextCharset {
    guard let type = head.headers[.contentType] else { return TextCharset(.isoLatin1) }
    let media = MediaType(type)
    if let charset = media.parameters["charset"], !charset.isEmpty { return TextCharset(named: charset) }
    let isUTF8 =
      media.essence == "application/json" || media.essence.hasSuffix("+json") || media.essence == "text/event-stream"
      || media.essence == "application/x-ndjson"
    return TextCharset(isUTF8 ? .utf8 : .isoLatin1)
  }

  /// Names of the IANA registry and their aliases, the preferred name of each first.
  private static let names: [(String, String.Encoding)] = [
    ("utf-8", .utf8), ("utf8", .utf8), ("unicode-1-1-utf-8", .utf8),
    ("iso-8859-1", .isoLatin1), ("latin1", .isoLatin1), ("iso8859-1", .isoLatin1), ("iso_8859-1", .isoLatin1),
    ("l1", .isoLatin1), ("cp819", .isoLatin1), ("ibm819", .isoLatin1), ("iso-ir-100", .isoLatin1),
    ("us-ascii", .ascii), ("ascii", .ascii), ("iso646-us", .ascii), ("ansi_x3.4-1968", .ascii),
    ("utf-16", .utf16), ("utf-16le", .utf16LittleEndian), ("utf-16be", .utf16BigEndian),
    ("iso-10646-ucs-2", .utf16), ("unicode", .utf16),
    ("windows-1252", .windowsCP1252), ("cp1252", .windowsCP1252), ("x-cp1252", .windowsCP1252),
    ("utf-32", .utf32), ("utf-32le", .utf32LittleEndian), ("utf-32be", .utf32BigEndian),
  ]

  /// `nil` for bytes that are not text in this charset. A byte order mark at the beginning is removed.
  func decode(_ data: Data) -> String? {
    guard let encoding else { return nil }
    switch encoding {
    case .utf8:
      return String(validating: data.starts(with: [0xEF, 0xBB, 0xBF]) ? data.dropFirst(3) : data[...], as: UTF8.self)
    case .ascii: return data.allSatisfy { $0 < 0x80 } ? String(decoding: data, as: UTF8.self) : nil
    case .isoLatin1: return Self.text(data) { UInt16($0) }
    case .windowsCP1252: return Self.text(data, Windows1252.scalar)
    case .utf16:
      if data.starts(with: [0xFF, 0xFE]) { return Self.utf16(data.dropFirst(2), isBigEndian: false) }
      // Without a byte order mark it is big-endian (RFC 2781 §4.3).
      return Self.utf16(data.starts(with: [0xFE, 0xFF]) ? data.dropFirst(2) : data[...], isBigEndian: true)
    case .utf16LittleEndian:
      return Self.utf16(data.starts(with: [0xFF, 0xFE]) ? data.dropFirst(2) : data[...], isBigEndian: false)
    case .utf16BigEndian:
      return Self.utf16(data.starts(with: [0xFE, 0xFF]) ? data.dropFirst(2) : data[...], isBigEndian: true)
    default: return String(data: data, encoding: encoding)
    }
  }

  private static func text(_ data: Data, _ unit: (UInt8) -> UInt16) -> String {
    String(decoding: data.map(unit), as: UTF16.self)
  }

  private static func utf16(_ data: Data, isBigEndian: Bool) -> String? {
    guard data.count.isMultiple(of: 2) else { return nil }
    let bytes = [UInt8](data)
    let units = stride(from: 0, to: bytes.count, by: 2).map { index in
      let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
      return isBigEndian ? first << 8 | second : second << 8 | first
    }
    return String(validating: units, as: UTF16.self)
  }
}
