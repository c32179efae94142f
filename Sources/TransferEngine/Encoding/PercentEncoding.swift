/// The ASCII characters that percent-encoding leaves as they are. All bytes beyond ASCII are always encoded.
///
/// It stands where Alamofire has Foundation's `CharacterSet`, which FoundationEssentials lacks.
public struct AllowedCharacters: Sendable, Hashable {
  /// One bit a character.
  private var low: UInt64 = 0
  private var high: UInt64 = 0

  /// The empty set.
  public init() {}

  /// The ASCII characters of this text; others are ignored, for they are always encoded.
  public init(charactersIn characters: String) { insert(charactersIn: characters) }

  /// Letters, digits and `-._~` (RFC 3986 §2.3).
  public static let unreserved = AllowedCharacters(
    charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

  /// What may stand in a query (RFC 3986 §3.4) without the delimiters of names and values: the unreserved characters, `?`
  /// and `/`.
  public static let afURLQueryAllowed = AllowedCharacters(charactersIn: "?/").union(unreserved)

  /// What may stand in a query, delimiters and percent signs included.
  static let query = AllowedCharacters(charactersIn: "!$&'()*+,;=:@/?%").union(unreserved)

  /// Characters beyond ASCII are passed over.
  public mutating func insert(charactersIn characters: String) {
    for byte in characters.utf8 {
      if byte < 64 { low |= 1 << UInt64(byte) } else if byte < 128 { high |= 1 << UInt64(byte - 64) }
    }
  }

  /// Takes the characters of this text out of the set.
  public mutating func remove(charactersIn characters: String) {
    for byte in characters.utf8 {
      if byte < 64 { low &= ~(1 << UInt64(byte)) } else if byte < 128 { high &= ~(1 << UInt64(byte - 64)) }
    }
  }

  /// What is in either set.
  public func union(_ other: AllowedCharacters) -> AllowedCharacters {
    var union = self
    union.low |= other.low
    union.high |= other.high
    return union
  }

  /// What is in this set and not in the other.
  public func subtracting(_ other: AllowedCharacters) -> AllowedCharacters {
    var rest = self
    rest.low &= ~other.low
    rest.high &= ~other.high
    return rest
  }

  func contains(_ byte: UInt8) -> Bool {
    byte < 64 ? low >> UInt64(byte) & 1 == 1 : byte < 128 && high >> UInt64(byte - 64) & 1 == 1
  }
}

extension String {
  /// With `%XX`, upper case, for every byte of its UTF-8 that is not allowed (RFC 3986 §2.1).
  func percentEncoded(allowing allowed: AllowedCharacters) -> String { percentEncoded { !allowed.contains($0) } }

  /// With `%XX` for these characters alone.
  func percentEncoded(encoding characters: AllowedCharacters) -> String { percentEncoded(characters.contains) }

  private func percentEncoded(_ mustEncode: (UInt8) -> Bool) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(utf8.count)
    for byte in utf8 {
      if mustEncode(byte) {
        bytes += [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension RequestURL {
  /// With these names and values, encoded already, after those it has. An existing query is kept as it is, except that
  /// characters that may not stand in one are encoded.
  func appending(query added: String) throws(TransferError) -> RequestURL {
    guard !added.isEmpty else { return self }
    let parts = string.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    var query = added
    if parts.count > 1, !parts[1].isEmpty {
      query = String(parts[1]).percentEncoded(allowing: .query) + "&" + added
    }
    do {
      return try RequestURL("\(parts[0])?\(query)")
    } catch {
      throw .parameters(.invalidURL(reason: "\(error)"))
    }
  }
}
