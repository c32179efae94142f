import WireValues

/// What a tus server supports, from its response to OPTIONS.
struct TusServer: Sendable, Equatable {
  static let version = "1.0.0"

  var extensions: Set<String> = []
  var checksums: Set<String> = []
  var maximumSize: Int64?
  /// The chunk size that a 413 response revealed.
  var chunkLimit: Int64?

  /// `nil` if the response is not a tus server's.
  init?(_ head: ResponseHead) {
    guard (200..<300).contains(head.status), head.field("Tus-Version") ?? head.field("Tus-Resumable") != nil else {
      return nil
    }
    extensions = Self.list(head.field("Tus-Extension"))
    checksums = Self.list(head.field("Tus-Checksum-Algorithm"))
    maximumSize = head.count("Tus-Max-Size")
  }

  private static func list(_ value: String?) -> Set<String> {
    Set((value ?? "").split(separator: ",").map { $0.trimmingBlanks().lowercased() })
  }
}
