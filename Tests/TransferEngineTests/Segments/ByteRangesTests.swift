import Foundation
import Testing

@testable import TransferEngine

@Suite struct ByteRangesTests {
  private func ranges(_ ranges: Range<Int64>...) -> ByteRanges {
    var set = ByteRanges()
    for range in ranges { set.insert(range) }
    return set
  }

  @Test(
    "inserted ranges are sorted, and those that overlap or touch become one",
    arguments: [
      ([0..<1], [0..<1]),
      ([5..<6, 0..<1], [0..<1, 5..<6]),
      ([0..<5, 5..<9], [0..<9]),
      ([5..<9, 0..<5], [0..<9]),
      ([0..<3, 6..<9, 2..<7], [0..<9]),
      ([0..<3, 6..<9, 3..<6], [0..<9]),
      ([0..<9, 2..<3], [0..<9]),
      ([2..<2, -5..<3], []),
      ([1..<2, 3..<4, 5..<6, 7..<8, 2..<7], [1..<8]),
    ] as [([Range<Int64>], [Range<Int64>])])
  func insert(inserted: [Range<Int64>], expected: [Range<Int64>]) {
    var set = ByteRanges()
    for range in inserted { set.insert(range) }
    #expect(set.ranges == expected)
  }

  @Test("random insertions give the same bytes as a set of numbers, and no two ranges touch")
  func random() {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<200 {
      var set = ByteRanges()
      var bytes: Set<Int64> = []
      for _ in 0..<30 {
        let start = Int64.random(in: 0..<100, using: &generator)
        let range = start..<start + Int64.random(in: 0..<12, using: &generator)
        set.insert(range)
        bytes.formUnion(range)
      }
      #expect(set.count == Int64(bytes.count))
      #expect(Set(set.ranges.flatMap { Array($0) }) == bytes)
      for (one, other) in zip(set.ranges, set.ranges.dropFirst()) { #expect(one.upperBound < other.lowerBound) }
      let gaps = set.gaps(upTo: 120).flatMap { Array($0) }
      #expect(Set(gaps).union(bytes) == Set(0..<120))
      for offset in Int64(0)..<120 { #expect((set.range(at: offset) != nil) == bytes.contains(offset)) }
      let clamped = set.clamped(to: 50)
      #expect(Set(clamped.ranges.flatMap { Array($0) }) == bytes.filter { $0 < 50 })
    }
  }

  @Test("ranges are stored as pairs and read back")
  func coding() throws {
    let set = ranges(0..<10, 20..<30)
    let data = try JSONEncoder().encode(set)
    #expect(String(decoding: data, as: UTF8.self) == "[[0,10],[20,30]]")
    #expect(try JSONDecoder().decode(ByteRanges.self, from: data) == set)
  }

  @Test(
    "a record with impossible ranges is refused",
    arguments: ["[[5,1]]", "[[1,1]]", "[[-1,4]]", "[[0,5],[3,9]]", "[[5,9],[0,1]]", "[[1]]", "[[1,2,3]]", "[1]", "{}"])
  func hostile(text: String) {
    #expect(throws: (any Error).self) { try JSONDecoder().decode(ByteRanges.self, from: Data(text.utf8)) }
  }

  @Test("a record with more ranges than any download leaves is refused")
  func tooMany() {
    let pairs = (0...ByteRanges.maximumStored).map { "[\($0 * 2),\($0 * 2 + 1)]" }
    let text = "[" + pairs.joined(separator: ",") + "]"
    #expect(throws: (any Error).self) { try JSONDecoder().decode(ByteRanges.self, from: Data(text.utf8)) }
  }

  @Test("offsets at the end of the number range do not overflow")
  func extremes() {
    var set = ranges(0..<Int64.max)
    set.insert(5..<Int64.max)
    #expect(set.count == .max)
    #expect(set.range(at: .max - 1) == 0..<Int64.max)
    #expect(set.range(at: .max) == nil)
  }
}
