/// The rules for the header fields of a job. The CLI and the daemon use the same rules.
public enum HeaderRules {
  /// Maximum number of fields of a job.
  public static let maximumCount = 100
  static let maximumValueBytes = 16 * 1024
  /// Maximum of all names and values of a job, in bytes: they are a part of its row.
  public static let maximumBytes = 256 << 10

  /// Fields that transferd sets itself because they control framing and resuming, or that would let a job speak for another
  /// host. In lower case. The only such list. With `Upload-Concat: partial` a tus server keeps what it gets as a piece that
  /// never becomes a file, and the upload would seem to be complete. `Proxy-Authorization` would reach the server: proxies have
  /// their own credentials.
  public static let reserved: Set<String> = [
    "host", "content-length", "transfer-encoding", "connection", "range", "if-range", "accept-encoding", "te",
    "upgrade", "expect", "trailer", "keep-alive", "proxy-connection", "proxy-authorization", "content-range",
    "tus-resumable", "upload-offset",
    "upload-complete", "upload-incomplete", "upload-length", "upload-concat", "upload-defer-length", "upload-checksum",
    "upload-draft-interop-version",
  ]

  /// - Throws: `WireError` that does not repeat the value, which may be a secret.
  public static func check(name: String, value: String) throws(WireError) {
    guard isToken(name) else { throw WireError("the header name \"\(shown(name))\" is not valid") }
    guard !reserved.contains(name.lowercased()) else {
      throw WireError("the header \(name) is set by transferd itself")
    }
    try check(value: value, of: name)
  }

  /// - Throws: `WireError` that does not repeat the value, which may be a secret.
  public static func check(value: String, of name: String) throws(WireError) {
    guard value.utf8.count <= maximumValueBytes, value.utf8.allSatisfy({ $0 == 9 || $0 >= 0x20 && $0 != 0x7F }) else {
      throw WireError("the value of the header \(name) contains a control character or is too long")
    }
  }

  /// `token`, RFC 9110 §5.6.2.
  public static func isToken(_ text: some StringProtocol) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"):
          true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
      }
  }

  private static func shown(_ name: String) -> String {
    String(name.unicodeScalars.prefix(100).map { $0.value > 0x1F && $0.value != 0x7F ? Character($0) : "?" })
  }
}
