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
    if let size = download.size, size < 0 { throw WireError("size must be 0 or more bytes") }
    if let size = download.size, let limit = download.maxSize, size > limit {
      throw WireError("the file has \(size) bytes, more than maxSize permits")
    }
    if let pieces = download.pieces {
      try pieces.check()
      guard let size = download.size else { throw WireError("pieces need the file's size") }
      guard pieces.cover(size) else { throw WireError("pieces and size do not match") }
    }
    let isExact = download.size != nil || download.pieces != nil
    if let scheme, !["http", "https"].contains(scheme), isExact || !download.mirrors.isEmpty {
      throw WireError("mirrors, size and pieces are for http and https, not for \(scheme)")
    }
    guard !download.mirrors.isEmpty else { return }
    guard download.mirrors.count <= Self.maximumMirrors else {
      throw WireError("more than \(Self.maximumMirrors) mirrors")
    }
    if download.ifChanged {
      throw WireError("ifChanged asks one server what has changed; it cannot be combined with mirrors")
    }
    for mirror in download.mirrors { try Self.check(mirror: mirror) }
    guard Set(download.mirrors).count == download.mirrors.count else { throw WireError("a mirror is given twice") }
  }

  private static func check(mirror: String) throws(WireError) {
    guard mirror.utf8.count <= maximumMirrorBytes else {
      throw WireError("the URL of a mirror is longer than \(maximumMirrorBytes) bytes")
    }
    let url: URLText
    do {
      url = try URLText(mirror)
    } catch {
      throw WireError("the mirror \(Secrets.redacting(url: mirror)) \(error)")
    }
    guard ["http", "https"].contains(url.scheme) else {
      throw WireError("a mirror is an http or https URL, not \(Secrets.redacting(url: mirror))")
    }
  }
}
