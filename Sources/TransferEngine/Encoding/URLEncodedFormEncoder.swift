public import FoundationEssentials

/// Encodes a value with named fields as `name=value&…`, with the options of Alamofire's encoder of this name.
///
/// Pairs are sorted as text, so the items of an array are too, unless `alphabetizeKeyValuePairs` is false: then the fields
/// of a structure keep their order, and those of a dictionary have none.
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
    /// By the closure; what it throws fails the request.
    case custom(@Sendable (Data) throws -> String)
  }

  /// For a format of one's own, which Alamofire takes a `DateFormatter` for, use `.custom`.
  public enum DateEncoding: Sendable {
    /// As `Date` encodes itself: seconds since 2001-01-01 00:00 UTC.
    case deferredToDate
    /// Seconds since 1970-01-01 00:00 UTC, fractions included.
    case secondsSince1970
    /// Milliseconds since 1970-01-01 00:00 UTC, fractions included.
    case millisecondsSince1970
    /// `2001-01-01T00:02:03Z` (RFC 3339), without fractions.
    case iso8601
    /// By the closure; what it throws fails the request.
    case custom(@Sendable (Date) throws -> String)
  }

  /// What becomes of keys. A key is the whole path: `parent[child]`.
  public enum KeyEncoding: Sendable {
    /// As they are.
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
    /// By the closure, which gets the whole path.
    case custom(@Sendable (String) -> String)
  }

  /// How the key of a nested field follows its parent's.
  public struct KeyPathEncoding: Sendable {
    /// `parent[child]`
    public static let brackets = KeyPathEncoding { "[\($0)]" }
    /// `parent.child`
    public static let dots = KeyPathEncoding { ".\($0)" }

    let encode: @Sendable (String) -> String

    /// By the closure, which gets the nested field's name and returns what is appended to its parent's key.
    public init(encoding: @escaping @Sendable (_ subkey: String) -> String) { encode = encoding }
  }

  /// What becomes of a field whose value is nil.
  public struct NilEncoding: Sendable {
    /// Neither name nor value.
    public static let dropKey = NilEncoding { nil }
    /// `name=`
    public static let dropValue = NilEncoding { "" }
    /// `name=null`
    public static let null = NilEncoding { "null" }

    let encode: @Sendable () -> String?

    /// - Parameter encoding: the value; `nil` for neither name nor value.
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
  /// What becomes of keys.
  public let keyEncoding: KeyEncoding
  /// How the key of a nested field is written.
  public let keyPathEncoding: KeyPathEncoding
  /// What becomes of nil.
  public let nilEncoding: NilEncoding
  /// How a blank is written.
  public let spaceEncoding: SpaceEncoding
  /// What is not percent-encoded; by default the unreserved characters (RFC 3986 §2.3) and `/` and `?` (§3.4).
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

  /// - Throws: `TransferError.parameters(.invalidRootObject)` for a value without named fields; what the value or a custom
  ///   encoding throws.
  public func encode(_ value: any Encodable) throws -> String {
    let root = FormNode()
    // Through the container of a single value, so that a date at the top is seen as one.
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

  /// The words of a camel-case name, in lower case. A word begins at an upper-case letter; of several in a row the last one
  /// begins a word if a lower-case letter follows it, and the first one does. The name's first letter is taken for a lower-case
  /// one.
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

/// Writes names and values in their order, or sorted.
struct FormSerializer {
  let options: URLEncodedFormEncoder

  func serialize(_ object: FormObject) -> String {
    joined(object.entries.map { serialize($0.value, forKey: $0.key) })
  }

  private func serialize(_ node: FormNode, forKey key: String) -> String {
    switch node.content {
    case .empty: ""
    case .text(let text): "\(escape(options.keyEncoding.encode(key)))=\(escape(text))"
    case .object(let object):
      joined(object.entries.map { serialize($0.value, forKey: key + options.keyPathEncoding.encode($0.key)) })
    case .array(let items):
      joined(
        items.enumerated().map {
          serialize($0.element, forKey: options.arrayEncoding.encode(key: key, atIndex: $0.offset))
        })
    }
  }

  private func joined(_ pairs: [String]) -> String {
    (options.alphabetizeKeyValuePairs ? pairs.sorted() : pairs).joined(separator: "&")
  }

  private func escape(_ text: String) -> String {
    var allowed = options.allowedCharacters
    allowed.insert(charactersIn: " ")
    let space = if case .plusReplaced = options.spaceEncoding { "+" } else { "%20" }
    return text.percentEncoded(allowing: allowed).replacing(" ", with: space)
  }
}
