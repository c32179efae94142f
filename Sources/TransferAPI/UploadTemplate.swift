import WireValues

/// A URL or a key with fields for facts about the file: `https://host/in/{name}`, `{path}:{mtime}`. Pure.
public struct UploadTemplate: Equatable, Sendable {
  public enum Field: String, CaseIterable, Sendable {
    /// The absolute path.
    case path
    /// The last component of the path.
    case name
    /// The path below the root of what is uploaded.
    case relpath
    /// In bytes.
    case size
    /// Seconds since 1970 with nine digits behind the point.
    case mtime
    /// Of the content, in hexadecimal.
    case sha256
  }

  private let template: BraceTemplate<Field>
  /// The template as it was written.
  public let text: String

  /// - Throws: `WireError` for an unknown field or an unpaired brace.
  public init(parsing text: String) throws(WireError) {
    self.text = text
    template = try BraceTemplate(parsing: text)
  }

  public func uses(_ field: Field) -> Bool { template.uses(field) }

  /// Whether the template has no field, so that every file gives the same text.
  public var isConstant: Bool { template.isConstant }

  /// Fills in a key. Facts are unchanged, except that `%` and control characters, which a key must not have, are
  /// percent-encoded.
  public func expanded(for file: UploadedFile) -> String {
    template.filled { Self.withoutControls(file.value(of: $0)) }
  }

  /// Different texts stay different, because `%` is encoded too.
  private static func withoutControls(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: { isControl($0) || $0 == "%" }) else { return text }
    return text.unicodeScalars.map { scalar in
      guard isControl(scalar) || scalar == "%" else { return String(scalar) }
      return String(scalar).percentEncoded { _ in false }
    }.joined()
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
  }

  /// What follows a slash at the URL's end.
  public enum Ending: Sendable {
    /// Nothing is appended: one URL accepts all files, as for a form.
    case none
    /// The file's name is appended.
    case name
    /// The relative path is appended.
    case path
  }

  /// Fills in a URL. Facts are percent-encoded. The slashes of a path are kept, except those at its beginning.
  ///
  /// If the URL ends with a slash, or has no path (`s3://bucket`, `https://host`), it is a collection, and the file's name is
  /// appended.
  public func target(for file: UploadedFile, ending: Ending = .name) -> UploadTarget {
    guard ending != .none, let collection = collection(for: file) else { return UploadTarget(url: filled(file)) }
    let name = ending == .path ? file.relativePath : file.name
    return UploadTarget(collection: collection, name: Self.escaped(name[...]))
  }

  /// The URL to which a name is appended; `nil` if no name is appended.
  public func collection(for file: UploadedFile) -> String? {
    var url = filled(file)
    guard !Self.hasNoServer(url) else { return nil }
    if Self.hasNoPath(url) { url.insert("/", at: UploadTarget.pathEnd(url)) }
    return Self.pathEndsWithSlash(url) && template.endsWithText ? url : nil
  }

  /// Whether every file gets the same URL, so that uploads which store a file there replace each other.
  public var namesOneURL: Bool {
    let sample = UploadedFile(
      path: "/a/name", relativePath: "name", size: 0, modifiedSeconds: 0, modifiedNanoseconds: 0)
    return isConstant && collection(for: sample) == nil
  }

  private func filled(_ file: UploadedFile) -> String {
    template.filled { field in Self.escaped(file.value(of: field).drop { $0 == "/" }) }
  }

  /// Whether nothing follows the scheme, as in `sftp://`: a name behind it would be that of the server.
  private static func hasNoServer(_ url: String) -> Bool {
    let end = UploadTarget.pathEnd(url)
    return url[..<end].firstRange(ofASCII: "://")?.upperBound == end
  }

  /// Whether the URL names only a server or a bucket, without a path.
  private static func hasNoPath(_ url: String) -> Bool {
    let parts = URLReference(url)
    return parts.authority?.isEmpty == false && parts.path.isEmpty
  }

  private static func pathEndsWithSlash(_ url: String) -> Bool {
    url[..<UploadTarget.pathEnd(url)].hasTrailingSlash
  }

  /// All but unreserved characters and the slash, percent-encoded.
  private static func escaped(_ text: Substring) -> String {
    text.percentEncoded { $0.isUnreserved || $0 == UInt8(ascii: "/") }
  }
}
