import Crypto
import Foundation

extension Sequence<UInt8> {
  /// The bytes in lower-case hexadecimal.
  public var hexadecimal: String {
    let digits = Array("0123456789abcdef")
    var text = ""
    for byte in self {
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return text
  }
}

/// The SHA-256 of a file in lower-case hexadecimal, read a MiB at a time.
public func sha256(ofFile path: String) throws -> String {
  let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
  defer { try? file.close() }
  var hash = SHA256()
  while let piece = try file.read(upToCount: 1 << 20), !piece.isEmpty {
    hash.update(data: piece)
  }
  return hash.finalize().hexadecimal
}

/// The SHA-256 of bytes in lower-case hexadecimal.
public func sha256(of data: Data) -> String {
  SHA256.hash(data: data).hexadecimal
}
