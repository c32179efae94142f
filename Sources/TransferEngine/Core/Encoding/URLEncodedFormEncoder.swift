public import FoundationEssentials

/// Encodes a value with named fields as `name=value&…`, with the options of Alamofire's encoder of this name.
///
/// By default pairs are sorted as text, including the items of an array. If `alphabetizeKeyValuePairs` is false, the
/// fields of a structure keep their order, and those of a dictionary have none.
public struct URLEncodedFormEncoder: Sendable {
  /// How the key of an array's item is written.
  public typealias ArrayEncoding = URLEncoding.ArrayEncoding
  /// How a Bool is written.
  public typealias BoolEncoding = URLEncoding.BoolEncoding

  /// How `Data` is written.
  public enum DataEncoding: Sendable {
    /// As `Data` encodes itself: an array of numbers.
    case deferredToData
    /// Base64 (RFC 4648 §4), percent-encoded like any text.
    case base64
    /// The closure's text; an error that it throws fails the request.
    case custom(@Sendable (Data) throws -> String)
  }

  /// For a custom format, where Alamofire takes a `DateFormatter`, use `.custom`.
  public enum DateEncoding: Sendable {
    /// As `Date` encodes itself: seconds since 2001-01-01 00:00 UTC.
    case deferredToDate
    /// Seconds since 1970-01-01 00:00 UTC, fractions included.
    case secondsSince1970
    /// Milliseconds since 1970-01-01 00:00 UTC, fractions included.
    case millisecondsSince1970
    /// `2001-01-01T00:02:03Z` (RFC 3339), without fractions.
    case iso8601
    /// The closure's text; an error that it throws fails the request.
    case custom(@Sendable (Date) throws -> String)
  }

  /// How keys are changed. A key is the whole path: `parent[child]`.
  public enum KeyEncoding: Sendable {
    /// Unchanged.
    case useDefaultKeys
    /// `oneTwoThree` → `one_two_three`, `myURLName` → `my_url_name`
    case convertToSnakeCase
    /// `oneTwoThree` → `one-two-three`
    case convertToKebabCase
    /// `oneTwoThree` → `OneTwoThree`
    case capitalized
    /// In upper case.
    case uppercased
    /// In lower case.
    case lowercased
    /// The closure's text; the closure gets the whole path.
    case custom(@Sendable (String) -> String)
  }

  /// How the key of a nested field is appended to its parent's.
  public struct KeyPathEncoding: Sendable {
    /// `parent[child]`
    public static let brackets = KeyPathEncoding { "[\($0)]" }
    /// `parent.child`
    public static let dots = KeyPathEncoding { ".\($0)" }

    let encode: @Sendable (String) -> String

    /// - Parameter encoding: gets the nested field's name, and returns the text to append to its parent's key.
    public init(encoding: @escaping @Sendable (_ subkey: String) -> String) { encode = encoding }
  }

  /// How a field with a nil value is written.
  public struct NilEncoding: Sendable {
    /// Left out.
    public static let dropKey = NilEncoding { nil }
    /// `name=`
    public static let dropValue = NilEncoding { "" }
    /// `name=null`
    public static let null = NilEncoding { "null" }

    let encode: @Sendable () -> String?

    /// - Parameter encoding: returns the value; `nil` leaves the field out.
    public init(encoding: @escaping @Sendable () -> String?) { encode = encoding }
  }

  /// How a blank is written.
  public enum SpaceEncoding: Sendable {
    /// `%20`
    case percentEscaped
    /// `+`
    case plusReplaced
  }

  /// Whether pairs are sorted as text, so that equal values become equal bytes.
  public let alphabetizeKeyValuePairs: Bool
  /// How the key of an array's item is written.
  public let arrayEncoding: ArrayEncoding
  /// How a Bool is written.
  public let boolEncoding: BoolEncoding
  /// How `Data` is written.
  public let dataEncoding: DataEncoding
  /// How `Date` is written.
  public let dateEncoding: DateEncoding
  /// How keys are changed.
  public let keyEncoding: KeyEncoding
  /// How the key of a nested field is written.
  public let keyPathEncoding: KeyPathEncoding
  /// How nil is written.
  public let nilEncoding: NilEncoding
  /// How a blank is written.
  public let spaceEncoding: SpaceEncoding
  /// Characters that are not percent-encoded; by default the unreserved characters (RFC 3986 §2.3), `/` and `?` (§3.4).
  public var allowedCharacters: AllowedCharacters

  /// Encodes with these options; the defaults are Alamofire's.
  public init(
    alphabetizeKeyValuePairs: Bool = true, arrayEncoding: ArrayEncoding = .brackets,
    boolEncoding: BoolEncoding = .numeric, dataEncoding: DataEncoding = .base64,
    dateEncoding: DateEncoding = .deferredToDate, keyEncoding: KeyEncoding = .useDefaultKeys,
    keyPathEncoding: KeyPathEncoding = .brackets, nilEncoding: NilEncoding = .dropKey,
    spaceEncoding: SpaceEncoding = .percentEscaped, allowedCharacters: AllowedCharacters = .afURLQueryAllowed
  ) {
    self.alphabetizeKeyValuePairs = alphabetizeKeyValuePairs
    self.arrayEncoding = arrayEncoding
    self.boolEncoding = boolEncoding
    self.dataEncoding = dataEncoding
    self.dateEncoding = dateEncoding
    self.keyEncoding = keyEncoding
    self.keyPathEncoding = keyPathEncoding
    self.nilEncoding = nilEncoding
    self.spaceEncoding = spaceEncoding
    self.allowedCharacters = allowedCharacters
  }

  /// - Throws: `TransferError.parameters(.invalidRootObject)` for a value without named fields; errors of the value or
  ///   of a custom encoding.
  public func encode(_ value: any Encodable) throws -> String {
    let root = FormNode()
    // Uses a single-value container, so that a date at the top level is recognised.
    try FormEncoder(options: self, root: root, path: []).encode(value)
    switch root.content {
    case .empty: return ""
    case .object(let object): return FormSerializer(options: self).serialize(object)
    case .text, .array: throw TransferError.parameters(.invalidRootObject("\(type(of: value))"))
    }
  }

  /// The same as UTF-8.
  public func encode(_ value: any Encodable) throws -> Data { Data(try encode(value).utf8) }
}

extension URLEncodedFormEncoder.KeyEncoding {
  func encode(_ key: String) -> String {
    switch self {
    case .useDefaultKeys: key
    case .convertToSnakeCase: Self.words(of: key).joined(separator: "_")
    case .convertToKebabCase: Self.words(of: key).joined(separator: "-")
    case .capitalized: key.prefix(1).uppercased() + key.dropFirst()
    case .uppercased: key.uppercased()
    case .lowercased: key.lowercased()
    case .custom(let encode): encode(key)
    }
  }

  /// The words of a camel-case name, in lower case. An upper-case letter begins a word. Of several in a row the first
  /// one begins a word, and the last one does if a lower-case letter follows it. The first letter of the name counts as
  /// lower-case.
  private static func words(of key: String) -> [String] {
    let letters = Array(key)
    var starts = [0]
    var next = 1
    while let upper = letters.indices.first(where: { $0 >= next && letters[$0].isUppercase }) {
      starts.append(upper)
      guard let lower = letters.indices.first(where: { $0 > upper && letters[$0].isLowercase }) else { break }
      if lower > upper + 1 { starts.append(lower - 1) }
      next = lower + 1
    }
    let ends = starts.dropFirst() + [letters.count]
    return zip(starts, ends).map { String(letters[$0..<$1]).lowercased() }
  }
}
