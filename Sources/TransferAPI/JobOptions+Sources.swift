import WireValues

/// Options about the places from which a file is fetched.
extension JobOptions {
  /// The most mirrors of a job.
  public static let maximumMirrors = 64
  /// The longest URL of a mirror.
  public static let maximumMirrorBytes = 4096

  /// - Parameter scheme: of the job's own URL; `nil`: unknown.
  /// - Throws: `WireError` for mirrors, a length or digests of pieces that cannot be used.
  func checkSources(scheme: String?) throws(WireError) {
    if let size = download.size, size < 0 { throw WireError(text: "\(field: "size") must be 0 or more bytes") }
    if let size = download.size, let limit = download.maxSize, size > limit {
      throw WireError(text: "the file has \(size) bytes, more than \(field: "maxSize") permits")
    }
    if let pieces = download.pieces {
      try pieces.check()
      guard let size = download.size else {
        throw WireError(text: "\(field: "pieces") needs \(field: "size"), the file's length")
      }
      guard pieces.cover(size) else {
        throw WireError(text: "\(field: "pieces") and \(field: "size") do not match")
      }
    }
    let given = [
      ("mirrors", !download.mirrors.isEmpty), ("size", download.size != nil), ("pieces", download.pieces != nil),
    ].first { $0.1 }
    if let scheme, !["http", "https"].contains(scheme), let given {
      throw WireError(text: "\(field: given.0) is for http and https, not for \(scheme)")
    }
    guard !download.mirrors.isEmpty else { return }
    guard download.mirrors.count <= Self.maximumMirrors else {
      throw WireError(text: "\(field: "mirrors") has more than \(Self.maximumMirrors) URLs")
    }
    if download.ifChanged {
      throw WireError(
        text:
          "\(field: "ifChanged") asks one server what has changed; it cannot be combined with \(field: "mirrors")")
    }
    for mirror in download.mirrors { try Self.check(mirror: mirror) }
    guard Set(download.mirrors).count == download.mirrors.count else {
      throw WireError(text: "\(field: "mirrors") has a URL twice")
    }
  }

  private static func check(mirror: String) throws(WireError) {
    guard mirror.utf8.count <= maximumMirrorBytes else {
      throw WireError(text: "\(field: "mirrors") has a URL longer than \(maximumMirrorBytes) bytes")
    }
    let url: URLText
    do {
      url = try URLText(mirror)
    } catch {
      throw WireError(text: "\(field: "mirrors"): the URL \(Secrets.redacting(url: mirror)) \(error)")
    }
    guard ["http", "https"].contains(url.scheme) else {
      throw WireError(
        text: "\(field: "mirrors"): a mirror is an http or https URL, not \(Secrets.redacting(url: mirror))")
    }
  }
}
