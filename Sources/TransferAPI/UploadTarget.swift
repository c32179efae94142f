import WireValues

/// Where an upload stores its file: under a URL, which may be a collection and the file's name in it.
///
/// A tus server creates its uploads at the collection; every other server gets the file under the joined URL.
public struct UploadTarget: Equatable, Sendable {
  /// The file's URL.
  public let url: String
  /// The URL to which the name was appended. Its path ends with a slash. `nil`: the target is a URL and no more.
  public let collection: String?

  /// - Parameter collection: ignored unless `url` is this collection with a name appended.
  public init(url: String, collection: String? = nil) {
    self.url = url
    self.collection = collection.flatMap { Self.name(in: $0, of: url) == nil ? nil : $0 }
  }

  /// A name in a collection.
  /// - Parameters:
  ///   - collection: a URL whose path ends with a slash. Its query is the query of the file's URL, too.
  ///   - name: the file's name or relative path, percent-encoded.
  public init(collection: String, name: some StringProtocol) {
    let end = Self.pathEnd(collection)
    url = String(collection[..<end]) + String(name) + String(collection[end...])
    self.collection = collection
  }

  /// The file's percent-encoded name or relative path in the collection; `nil` without a collection.
  public var name: Substring? { collection.flatMap { Self.name(in: $0, of: url) } }

  /// The target of the same file at another URL, which is a collection if its path ends with a slash, as in `--to`.
  /// Otherwise it is the file's URL; if it ends with the file's name, the URL before the name is the collection.
  public func moved(to other: String) -> UploadTarget {
    guard let name else { return UploadTarget(url: other) }
    let end = Self.pathEnd(other)
    if other[..<end].hasSuffix("/") { return UploadTarget(collection: other, name: name) }
    guard other[..<end].hasSuffix("/" + name) else { return UploadTarget(url: other) }
    let collection = String(other[..<end].dropLast(name.count)) + String(other[end...])
    return UploadTarget(url: other, collection: collection)
  }

  private static func name(in collection: String, of url: String) -> Substring? {
    let (base, whole) = (collection[..<pathEnd(collection)], url[..<pathEnd(url)])
    guard base.hasSuffix("/"), whole.hasPrefix(base), whole.count > base.count else { return nil }
    return whole.dropFirst(base.count)
  }

  /// Before a query or fragment.
  static func pathEnd(_ url: String) -> String.Index { url.firstIndex(ofASCII: "?#") ?? url.endIndex }
}
