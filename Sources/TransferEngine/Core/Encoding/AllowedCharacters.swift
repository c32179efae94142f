import WireValues

/// The ASCII characters that percent-encoding keeps. Bytes beyond ASCII are always encoded.
///
/// It replaces Foundation's `CharacterSet`, which FoundationEssentials does not have.
public struct AllowedCharacters: Sendable, Hashable {
  /// One bit for each character.
  private var low: UInt64 = 0
  private var high: UInt64 = 0

  /// The empty set.
  public init() {}

  /// The ASCII characters of this text; others are ignored, because they are always encoded.
  public init(charactersIn characters: String) { insert(charactersIn: characters) }

  /// Letters, digits and `-._~` (RFC 3986 §2.3).
  public static let unreserved = AllowedCharacters(
    charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

  /// The characters of a query (RFC 3986 §3.4) that do not delimit names and values: the unreserved characters, `?` and
  /// `/`.
  public static let afURLQueryAllowed = AllowedCharacters(charactersIn: "?/").union(unreserved)

  /// The characters of a query, including delimiters and percent signs.
  static let query = AllowedCharacters(charactersIn: "!$&'()*+,;=:@/?%").union(unreserved)

  /// Characters beyond ASCII are ignored.
  public mutating func insert(charactersIn characters: String) {
    for byte in characters.utf8 {
      if byte < 64 { low |= 1 << UInt64(byte) } else if byte < 128 { high |= 1 << UInt64(byte - 64) }
    }
  }

  /// Removes the characters of this text from the set.
  public mutating func remove(charactersIn characters: String) {
    for byte in characters.utf8 {
      if byte < 64 { low &= ~(1 << UInt64(byte)) } else if byte < 128 { high &= ~(1 << UInt64(byte - 64)) }
    }
  }

  /// The characters of either set.
  public func union(_ other: AllowedCharacters) -> AllowedCharacters {
    var union = self
    union.low |= other.low
    union.high |= other.high
    return union
  }

  /// The characters of this set that are not in the other.
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
  /// Replaces every byte that is not allowed by `%XX` in upper case (RFC 3986 §2.1).
  func percentEncoded(allowing allowed: AllowedCharacters) -> String { percentEncoded(keeping: allowed.contains) }

  /// Replaces these characters by `%XX`.
  func percentEncoded(encoding characters: AllowedCharacters) -> String {
    percentEncoded { !characters.contains($0) }
  }
}

extension RequestURL {
  /// The URL with these encoded names and values after its own query. An existing query is kept; only characters that
  /// are not allowed in a query are encoded.
  func appending(query added: String) throws(TransferError) -> RequestURL {
    guard !added.isEmpty else { return self }
    let parts = string.split(atASCII: "?", maximum: 1, keepsEmpty: true)
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
