import FoundationEssentials
import HTTPTypes

/// How the bytes of a text are read.
struct TextCharset {
  /// As the response named it.
  let name: String
  /// `nil`: not known here.
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

  /// By the `charset` of Content-Type; without one ISO-8859-1, as in Alamofire. JSON and event streams are UTF-8
  /// whatever they say (RFC 8259 §8.1, WHATWG HTML §9.2.5), but a charset that is named is believed.
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

  /// `nil` for bytes that are no text of this charset. A byte order mark at the beginning is no part of the text.
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
      // Without a mark it is big-endian (RFC 2781 §4.3).
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

/// Windows code page 1252. The five bytes it leaves open stand for the C1 controls of the same number, as browsers have it
/// (encoding.spec.whatwg.org).
enum Windows1252 {
  private static let high: [UInt16] = [
    0x20AC, 0x0081, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x008D,
    0x017D, 0x008F, 0x0090, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A,
    0x0153, 0x009D, 0x017E, 0x0178,
  ]

  static func scalar(_ byte: UInt8) -> UInt16 {
    (0x80...0x9F).contains(byte) ? high[Int(byte) - 0x80] : UInt16(byte)
  }
}

/// A Content-Type, taken apart (RFC 9110 §8.3.1).
struct MediaType {
  /// `type/subtype`, lower case.
  let essence: String
  /// Names in lower case; of two with one name the first counts. Quoted values without their quotes.
  let parameters: [String: String]

  init(_ text: String) {
    let pieces = Self.pieces(text)
    essence = pieces.first?.trimmingBlanks().lowercased() ?? ""
    var parameters: [String: String] = [:]
    for piece in pieces.dropFirst() {
      guard let equals = piece.firstIndex(of: "=") else { continue }
      let name = piece[..<equals].trimmingBlanks().lowercased()
      let value = Self.unquoted(piece[piece.index(after: equals)...].trimmingBlanks())
      if parameters[name] == nil { parameters[name] = value }
    }
    self.parameters = parameters
  }

  /// Split at semicolons that are not within quotes.
  private static func pieces(_ text: String) -> [Substring] {
    var pieces: [Substring] = []
    var start = text.startIndex
    var isQuoted = false
    var isEscaped = false
    for index in text.indices {
      let character = text[index]
      if isEscaped {
        isEscaped = false
      } else if isQuoted, character == "\\" {
        isEscaped = true
      } else if character == "\"" {
        isQuoted.toggle()
      } else if character == ";", !isQuoted {
        pieces.append(text[start..<index])
        start = text.index(after: index)
      }
    }
    return pieces + [text[start...]]
  }

  private static func unquoted(_ text: Substring) -> String {
    guard text.count >= 2, text.first == "\"", text.last == "\"" else { return String(text) }
    var value = ""
    var isEscaped = false
    for character in text.dropFirst().dropLast() {
      if character == "\\", !isEscaped {
        isEscaped = true
      } else {
        value.append(character)
        isEscaped = false
      }
    }
    return value
  }
}
