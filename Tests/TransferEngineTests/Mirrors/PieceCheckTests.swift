import Testing

@testable import TransferEngine

@Suite struct PieceCheckTests {
  private func digests(_ count: Int, length: Int64 = 1024) throws -> PieceDigests {
    try #require(PieceDigests(.md5, length: length, digests: Array(repeating: 7, count: count * 16)))
  }

  @Test("digests must be whole, and cover exactly the file")
  func cover() throws {
    #expect(PieceDigests(.sha256, length: 1024, digests: Array(repeating: 0, count: 33)) == nil)
    #expect(PieceDigests(.sha256, length: 1024, digests: []) == nil)
    #expect(PieceDigests(.sha256, length: 1, digests: Array(repeating: 0, count: 32)) == nil)
    let three = try digests(3)
    for (total, isCovered) in [
      (2048, false), (2049, true), (3072, true), (3073, false), (0, false), (Int64.max, false),
    ] {
      #expect(three.cover(Int64(total)) == isCovered, "\(total)")
    }
    #expect(three.range(2, total: 2049) == 2048..<2049)
    #expect(three.pieces(in: 1023..<1025) == 0...1)
    #expect(three.hex(1) == String(repeating: "07", count: 16))
  }

  @Test("a piece is checked once, when its last byte is there; a wrong one is checked again")
  func written() throws {
    var check = PieceCheck(try digests(3), total: 2500)
    var completed = ByteRanges(0..<1000)
    #expect(check.written(0..<1000, completed: completed) == [])
    completed.insert(1000..<2100)
    #expect(check.written(1000..<2100, completed: completed) == [0, 1])
    #expect(check.written(2000..<2100, completed: completed) == [])
    completed.insert(2100..<2500)
    #expect(check.written(2100..<2500, completed: completed) == [2])
    check.judge(0, isGood: true)
    check.judge(1, isGood: false)
    #expect(check.good == [0])
    completed.remove(1024..<2048)
    #expect(completed.ranges == [0..<1024, 2048..<2500])
    #expect(check.written(0..<10, completed: completed) == [])
    completed.insert(1024..<2048)
    #expect(check.written(2000..<2048, completed: completed) == [1])
  }
}
