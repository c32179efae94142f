import Foundation
import TestSupport
import Testing

@testable import TransferEngine

@Suite struct ContentDecoderTests {
  enum Form: String, CaseIterable {
    case gzip, members, deflate, rawDeflate, br, zstd, frames

    var coding: String {
      switch self {
      case .gzip, .members: "gzip"
      case .deflate, .rawDeflate: "deflate"
      case .br: "br"
      case .zstd, .frames: "zstd"
      }
    }

    func encoded(_ data: Data) -> Data {
      let half = data.count / 2
      return switch self {
      case .gzip: TestSupport.gzip(data)
      case .members: TestSupport.gzip(Data(data.prefix(half))) + TestSupport.gzip(Data(data.dropFirst(half)))
      case .deflate: zlib(data)
      case .rawDeflate: Data(TestSupport.rawDeflate(data))
      case .br: brotli(data)
      case .zstd: zstandard(data)
      case .frames: zstandard(Data(data.prefix(half))) + zstandard(Data(data.dropFirst(half)))
      }
    }

    /// Lengths at which the truncated data is a complete stream.
    func wholeCuts(_ data: Data) -> Set<Int> {
      let half = Data(data.prefix(data.count / 2))
      return switch self {
      case .members: [TestSupport.gzip(half).count]
      case .frames: [zstandard(half).count]
      default: []
      }
    }
  }

  /// Decodes in pieces. Every `pause`th call of the receiver pauses, and the same piece is passed again.
  private static func decode(
    _ coding: String, _ data: Data, pieces: Int = .max, pause: Int = .max, limit: DecodingLimit = DecodingLimit()
  ) throws(TransferError) -> Data {
    let decoder = try ContentDecoder(coding: coding, limit: limit)
    var result = Data()
    var calls = 0
    var rest = [UInt8](data)[...]
    while !rest.isEmpty {
      let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: min(pieces, rest.count), alignment: 1)
      defer { piece.deallocate() }
      piece.copyBytes(from: rest.prefix(pieces))
      rest = rest.dropFirst(piece.count)
      while case .pause = try decoder.take(
        UnsafeRawBufferPointer(piece),
        { bytes throws(TransferError) in
          calls += 1
          if calls % pause == 0 { return .pause }
          result.append(contentsOf: bytes)
          return .taken
        })
      {}
    }
    try decoder.finish()
    return result
  }

  @Test("complete streams are decoded, in pieces of any size, with pauses", arguments: Form.allCases)
  func whole(_ form: Form) throws {
    for size in [0, 1, 2, 1000, 300_000] {
      let data = Payload(size: Int64(size)).data
      let encoded = form.encoded(data)
      for pieces in [1, 2, 3, 1000, Int.max] where pieces > 3 || size <= 1000 {
        #expect(try Self.decode(form.coding, encoded, pieces: pieces) == data)
        #expect(try Self.decode(form.coding, encoded, pieces: pieces, pause: 2) == data)
      }
    }
  }

  @Test("an incomplete stream is never accepted", arguments: Form.allCases)
  func cut(_ form: Form) {
    let data = Payload(size: 300).data
    let encoded = form.encoded(data)
    let whole = form.wholeCuts(data)
    for count in 1..<encoded.count where !whole.contains(count) {
      #expect(throws: TransferError.self, "cut at \(count) of \(encoded.count)") {
        try Self.decode(form.coding, encoded.prefix(count))
      }
    }
    // An empty body is accepted.
    #expect(throws: Never.self) { try Self.decode(form.coding, Data()) }
  }

  @Test("bytes after the end of the stream are an error", arguments: Form.allCases, [Data([0]), Data("garbage".utf8)])
  func trailing(_ form: Form, _ garbage: Data) {
    let encoded = form.encoded(Payload(size: 300).data)
    for pieces in [1, Int.max] {
      #expect(throws: TransferError.self) { try Self.decode(form.coding, encoded + garbage, pieces: pieces) }
    }
  }

  @Test("damaged input does not crash the decoder", arguments: Form.allCases)
  func damaged(_ form: Form) {
    var generator = SystemRandomNumberGenerator()
    let encoded = form.encoded(Payload(size: 2000).data)
    for _ in 0..<2000 {
      var copy = encoded
      copy[copy.startIndex + Int.random(in: 0..<copy.count, using: &generator)] = .random(
        in: 0...255, using: &generator)
      _ = try? Self.decode(form.coding, copy, pieces: .random(in: 1...500, using: &generator))
    }
  }

  @Test("a damaged gzip is found by its checksum")
  func checksum() {
    var encoded = TestSupport.gzip(Payload(size: 2000).data)
    encoded[1000] ^= 1
    #expect(throws: TransferError.self) { try Self.decode("gzip", encoded) }
  }

  @Test("unknown codings are refused", arguments: ["", "gzip, gzip", "aes128gcm", "compress"])
  func unknown(_ coding: String) {
    #expect(throws: TransferError.self) { try ContentDecoder(coding: coding, limit: DecodingLimit()) }
  }

  @Test("a body that decodes to next to nothing is stopped")
  func idle() {
    // The comment of the head goes on without end.
    let body = Data([0x1F, 0x8B, 8, 0x10, 0, 0, 0, 0, 0, 0xFF]) + Data(repeating: 0x61, count: 17 << 20)
    let error = #expect(throws: TransferError.self) { try Self.decode("gzip", body, pieces: 65_536) }
    guard case .response(.undecodable(let reason))? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(reason.contains("only 0 bytes of content"))
  }

  @Test("a decompression bomb is stopped at the ratio limit or at the byte limit")
  func bomb() {
    let bomb = gzipBomb(unfoldingTo: 64 << 20)
    for (limit, expected) in [
      (DecodingLimit(freeBytes: 1 << 20, ratio: 20), 1 << 20), (DecodingLimit(maximumBytes: 3 << 20), 3 << 20),
    ] {
      let error = #expect(throws: TransferError.self) { try Self.decode("gzip", bomb, pieces: 16384, limit: limit) }
      guard case .response(.bodyTooLarge(let reached))? = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
      #expect(reached >= expected)
      #expect(error?.isTransient == false)
    }
  }

  @Test(
    "the decoding limit combines free bytes, ratio and maximum",
    arguments: [
      (100, 1, nil), (1000, 1, nil), (1001, 1, 1000), (1001, 5, 1000), (1001, 100, nil),
      (1_000_001, 100_000, 1_000_000),
    ] as [(Int64, Int64, Int64?)])
  func limits(_ decoded: Int64, _ encoded: Int64, _ exceeded: Int64?) {
    let limit = DecodingLimit(freeBytes: 1000, ratio: 20, maximumBytes: 1_000_000)
    #expect(limit.exceeded(decoded: decoded, encoded: encoded) == exceeded)
    #expect(DecodingLimit(ratio: .max).exceeded(decoded: .max, encoded: .max) == nil)
  }
}
