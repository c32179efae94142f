import CLinux
import Glibc

/// The format of a form (RFC 7578, RFC 2046 §5.1; names as in WHATWG HTML §4.10.21.8).
enum MultipartFormat {
  static func randomBoundary() -> String {
    func word() -> String {
      let digits = String(UInt64.random(in: 0 ... .max), radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }
    return "transfer.boundary." + word() + word()
  }

  private static let boundaryCharacters = AllowedCharacters(charactersIn: "'()+_,-./:=? ").union(alphanumerics)
  private static let tokenCharacters = AllowedCharacters(charactersIn: "!#$%&'*+-.^_`|~").union(alphanumerics)
  private static let alphanumerics = AllowedCharacters.unreserved.subtracting(.init(charactersIn: "-._~"))

  static func isValid(_ boundary: String) -> Bool {
    (1...70).contains(boundary.utf8.count) && boundary.utf8.allSatisfy(boundaryCharacters.contains)
      && boundary.last != " "
  }

  /// A parameter's value; quoted if it is not a token (RFC 9110 §5.6.6).
  static func parameter(_ value: String) -> String {
    value.utf8.allSatisfy(tokenCharacters.contains) ? value : "\"\(value)\""
  }

  /// The lines of a part's head, with their ends.
  static func head(name: String, fileName: String?, mimeType: String?) -> String {
    var head = "Content-Disposition: form-data; name=\"\(quotable(name))\""
    if let fileName { head += "; filename=\"\(quotable(fileName))\"" }
    head += "\r\n"
    if let mimeType { head += "Content-Type: \(mimeType.percentEncoded(encoding: controls))\r\n" }
    return head
  }

  /// UTF-8 is kept. Characters that would end the quotes or the line are encoded, as browsers do, and also other
  /// control characters, which some servers take for line ends.
  private static func quotable(_ text: String) -> String {
    text.percentEncoded(encoding: controls.union(.init(charactersIn: "\"")))
  }

  private static let controls = AllowedCharacters(
    charactersIn: String(
      String.UnicodeScalarView(((0..<32).filter { $0 != 9 } + [127]).compactMap { Unicode.Scalar(UInt32($0)) })))

  /// A new file with mode 0600; -1 and `errno` if the file exists.
  static func create(_ path: String) -> Int32 {
    linux_openat(AT_FDCWD, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
  }

  /// False and `errno` when it fails.
  static func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
    var done = 0
    while done < bytes.count {
      let count = write(descriptor, bytes.baseAddress! + done, bytes.count - done)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { return false }
      done += count
    }
    return true
  }
}
