import FoundationEssentials

/// What identifies a tus upload on the server.
struct TusProgress: Sendable, Equatable, Codable {
  /// One, or one for each partial upload.
  var parts: [Part]
  /// The upload that combines the partial ones.
  var final: String?

  struct Part: Sendable, Equatable, Codable {
    /// An absolute URL.
    var url: String
    /// The first byte in the source.
    var start: Int64
    var end: Int64
    /// `Upload-Expires`, in seconds since 1970.
    var expires: Int64?

    /// Bytes from `start` to `end`.
    var length: Int64 { end - start }  // checked: 0 ≤ start ≤ end, by `isPossible(for:)` and where parts are made
  }

  /// Whether the parts follow one another from the file's first byte, and none ends after its last.
  func isPossible(for size: Int64) -> Bool {
    var end: Int64 = 0
    for part in parts {
      guard part.start == end, part.start <= part.end, part.end <= size else { return false }
      end = part.end
    }
    return true
  }
}
