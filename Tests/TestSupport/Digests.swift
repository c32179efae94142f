import Digests
import Foundation

extension Sequence<UInt8> {
  /// The bytes in lower-case hexadecimal.
  public var hexadecimal: String {
    hex
  }
}

/// The SHA-256 of a file in lower-case hexadecimal, read a MiB at a time.
public func sha256(ofFile path: String) throws -> String {
  let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
  defer { try? file.close() }
  var hash = IncrementalHash(.sha256)
  while let piece = try file.read(upToCount: 1 << 20), !piece.isEmpty {
    hash.update(piece)
  }
  return hash.finalize().hexadecimal
}

/// The SHA-256 of bytes in lower-case hexadecimal.
public func sha256(of data: Data) -> String {
  HashFunction.sha256.digest(of: data).hexadecimal
}
