/// What identifies an IETF resumable upload on the server.
struct ResumableProgress: Sendable, Equatable, Codable {
  /// An absolute URL.
  var url: String
  /// The interop version whose field names the server used.
  var interopVersion: Int
}
