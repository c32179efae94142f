import Glibc
import TransferAPI
import WireValues

/// Checks the URLs of a long list. A URL of the same server as the one before costs a comparison and a look at its bytes;
/// any other goes through `Syntax.check`.
struct URLCheck {
  /// The daemon reads no longer lines.
  private static let maximumBytes = 64 << 10

  private let schemes: [String]
  /// `scheme://authority/` of the last URL that was correct.
  private var prefix: [UInt8] = []

  init(schemes: [String] = URLText.downloadSchemes) { self.schemes = schemes }

  /// - Parameter url: without blanks around it.
  /// - Returns: what is wrong; `nil` for a correct URL.
  mutating func fault(in url: UnsafeRawBufferPointer) -> String? {
    guard url.count <= Self.maximumBytes else { return "is longer than \(Self.maximumBytes) bytes" }
    if !prefix.isEmpty, url.count >= prefix.count,
      prefix.withUnsafeBytes({ memcmp($0.baseAddress!, url.baseAddress!, $0.count) }) == 0,
      // No control characters, no blank, nothing beyond ASCII.
      url.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
    {
      return nil
    }
    if url.contains(0) { return "has a NUL byte" }
    guard let text = String(validating: url, as: UTF8.self) else { return "is not valid UTF-8" }
    do throws(WireError) {
      try Syntax.check(url: text, schemes: schemes)
    } catch {
      return error.description
    }
    if let separator = text.firstRange(of: "://"), let slash = text[separator.upperBound...].firstIndex(of: "/") {
      prefix = Array(text[...slash].utf8)
    }
    return nil
  }
}
