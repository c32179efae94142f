import WireValues

/// The facts that a file server reports about a file. HTTP has a response's head instead; with this type no HTTP status
/// has to be invented.
public struct RemoteFileFacts: Sendable, Hashable {
  /// The size in bytes; `nil` if the server does not report it (an FTP server without `SIZE`, RFC 3659 §4).
  public var size: Int64?
  /// Nanoseconds since 1970; `nil` if it is unknown. FTP (`MDTM`) and SFTP report whole seconds, SCP reports no time.
  public var modificationTime: Int64?
  /// Whether the protocol can start in the middle of a file; SCP cannot.
  public var isResumable: Bool

  /// Facts with these values.
  public init(size: Int64?, modificationTime: Int64? = nil, isResumable: Bool = true) {
    self.size = size
    self.modificationTime = modificationTime
    self.isResumable = isResumable
  }
}

extension RemoteFileFacts {
  /// The bytes that are free for the user, from libcurl's text for SFTP's `statvfs@openssh.com`: lines `name: number`.
  static func freeBytes(in text: String) -> Int64? {
    func number(_ name: String) -> CheckedNumber {
      let line = text.split(whereSeparator: \.isNewline).first { $0.hasPrefix("\(name): ") }
      return CheckedNumber(digits: (line ?? "").dropFirst(name.count + 2))  // checked: the length of a short name
    }
    return (number("f_bavail") * number("f_frsize")).value
  }
}
