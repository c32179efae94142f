import WireValues

/// Where an upload stores its file: under a name in a collection, or at a URL and no more.
///
/// A tus server creates its uploads at the collection and names them itself: nothing is ever at the joined URL. Every
/// other server gets the file there. Rows and JSON have two texts, `destination` and `collection`: ``url`` and
/// ``collection`` are what is written, and ``init(url:collection:)`` reads it.
public struct UploadTarget: Equatable, Sendable {
  private enum Place: Equatable, Sendable {
    case file(String)
    case member(collection: String, name: String)
    /// Two URLs of which neither follows from the other, as a client may give them.
    case apart(file: String, collection: String)

    var url: String {
      switch self {
      case .file(let url), .apart(let url, _): return url
      case .member(let collection, let name):
        let end = UploadTarget.pathEnd(collection)
        return String(collection[..<end]) + name + String(collection[end...])
      }
    }
  }

  private let place: Place

  /// Reads the two texts of a row or of JSON. They are kept as they are if `url` is not the collection with a name.
  public init(url: String, collection: String? = nil) {
    guard let collection else {
      place = .file(url)
      return
    }
    let member = Self.name(of: url, in: collection).map { Place.member(collection: collection, name: String($0)) }
    if let member, member.url.utf8.elementsEqual(url.utf8) {
      place = member
    } else {
      place = .apart(file: url, collection: collection)
    }
  }

  /// A name in a collection.
  /// - Parameters:
  ///   - collection: a URL whose path ends with a slash. Its query is the query of the file's URL, too.
  ///   - name: the file's name or relative path, percent-encoded.
  public init(collection: String, name: some StringProtocol) {
    place = .member(collection: collection, name: String(name))
  }

  /// The file's URL, joined if it has a name in a collection.
  public var url: String { place.url }

  /// Where a tus server creates the upload; `nil`: at ``url``.
  public var collection: String? {
    switch place {
    case .file: nil
    case .member(let collection, _), .apart(_, let collection): collection
    }
  }

  /// The file's percent-encoded name or relative path in the collection; `nil` if it has none.
  public var name: String? {
    switch place {
    case .file: nil
    case .member(_, let name): name
    // Both URLs may have a query of their own.
    case .apart(let file, let collection): Self.name(of: file, in: collection).map { String($0) }
    }
  }

  /// The target of the same file at another URL, which is a collection if its path ends with a slash, as in `--to`.
  /// Otherwise it is the file's URL; if it ends with the file's name, the URL before the name is the collection.
  public func moved(to other: String) -> UploadTarget {
    guard let name else { return UploadTarget(url: other) }
    let end = Self.pathEnd(other)
    let path = other[..<end]
    if path.hasTrailingSlash { return UploadTarget(collection: other, name: name) }
    let ending = "/" + name
    guard path.utf8.suffix(ending.utf8.count).elementsEqual(ending.utf8) else { return UploadTarget(url: other) }
    let base = String(decoding: path.utf8.dropLast(name.utf8.count), as: UTF8.self)
    return UploadTarget(collection: base + String(other[end...]), name: name)
  }

  /// What follows the collection's path in the path of a URL. Queries are not compared.
  private static func name(of url: String, in collection: String) -> Substring? {
    let (base, path) = (collection[..<pathEnd(collection)], url[..<pathEnd(url)])
    let isIn = path.utf8.count > base.utf8.count && path.utf8.starts(with: base.utf8)
    guard base.hasTrailingSlash, isIn else { return nil }
    return path[path.utf8.index(path.startIndex, offsetBy: base.utf8.count)...]  // checked: it begins with `base`
  }

  /// Before a query or fragment.
  static func pathEnd(_ url: String) -> String.Index { url.firstIndex(ofASCII: "?#") ?? url.endIndex }
}
