import FoundationEssentials

@testable import TransferEngine

extension FuzzCase {
  static let coding = [contentDecoder, jsonValue]

  /// The first byte chooses the coding, the second the length of the pieces; the rest is the coded body.
  private static let contentDecoder = FuzzCase("content-decoder", maximumLength: 16_384) { bytes in
    var input = Input(bytes)
    let coding = ["gzip", "deflate", "br", "zstd"][Int(input.byte()) % 4]
    let piece = Int(input.byte()) + 1
    let limit = DecodingLimit(freeBytes: 4096, ratio: 10, maximumBytes: 1 << 20)
    let body = Array(input.rest)
    let decoder = try ContentDecoder(coding: coding, limit: limit)
    var (decoded, isStopped) = (0, false)
    for start in stride(from: 0, to: body.count, by: piece) where !isStopped {
      let end = min(start + piece, body.count)
      do {
        _ = try body[start..<end].withUnsafeBytes { bytes in
          try decoder.take(bytes) { (output) throws(TransferError) in
            decoded += output.count
            return .taken
          }
        }
      } catch {
        isStopped = true
      }
      try require(decoded <= max(4096, end * 10), "\(decoded) bytes come from \(end)")
    }
    do throws(TransferError) { try decoder.finish() } catch { try require(!"\(error)".isEmpty, "no words") }
  }

  private static let jsonValue = FuzzCase("json") { bytes in
    guard let value = try? JSONDecoder().decode(JSONValue.self, from: Data(bytes)) else { return }
    _ = Redaction.json(value)
    let text = try JSONEncoder().encode(value)
    try require(try JSONDecoder().decode(JSONValue.self, from: text) == value, "it is read as another value")
  }
}
