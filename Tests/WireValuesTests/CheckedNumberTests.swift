import Testing
import WireValues

@Suite struct CheckedNumberTests {
  @Test("a result that fits is that of the operators")
  func fits() {
    #expect((CheckedNumber(Int64.max - 1) + 1).value == .max)
    #expect((CheckedNumber(5) - 7 + 2).value == 0)
    #expect((CheckedNumber(1 << 31) * (1 << 31)).value == 1 << 62)
    #expect((CheckedNumber(7) / 2).value == 3)
    #expect((CheckedNumber(Int64.min) + CheckedNumber(Int64.max)).value == -1)
  }

  @Test("a result that does not fit is no number, and neither is anything computed from it")
  func overflows() {
    #expect((CheckedNumber(Int64.max) + 1).value == nil)
    #expect((CheckedNumber(Int64.max) + 1 - 5).value == nil)
    #expect((CheckedNumber(Int64.min) - 1).value == nil)
    #expect((CheckedNumber(Int64.max) * 2).value == nil)
    #expect((CheckedNumber(1) / 0).value == nil)
    #expect((CheckedNumber(Int64.min) / -1).value == nil)
    #expect((CheckedNumber(0) + UInt64.max).value == nil)
    #expect((CheckedNumber(nil) + 1).value == nil)
    #expect([Int64.max, 1].checkedSum.value == nil)
    #expect([Int64.max, -1].checkedSum.value == Int64.max - 1)
  }

  @Test(
    "a Double is a number only if it fits an Int64",
    arguments: [
      (2.5, 3), (-0.4, 0), (9.2e18, 9_200_000_000_000_000_000), (9.3e18, nil), (-1e30, nil), (.nan, nil),
      (.infinity, nil), (-.infinity, nil),
    ] as [(Double, Int64?)])
  func doubles(_ number: Double, _ expected: Int64?) {
    #expect(CheckedNumber(rounding: number).value == expected)
  }

  @Test(
    "only digits are parsed as a number",
    arguments: [
      ("0", 0), ("007", 7), ("9223372036854775807", .max), ("9223372036854775808", nil), ("", nil), ("-1", nil),
      ("+1", nil), ("1 ", nil), ("١", nil), ("0x10", nil), ("1e3", nil),
      (String(repeating: "9", count: 96 * 1024), nil),
    ] as [(String, Int64?)])
  func digits(_ text: String, _ expected: Int64?) {
    #expect(CheckedNumber(digits: text).value == expected)
  }

  @Test("values outside their bounds are refused, and sums saturate")
  func bounds() {
    #expect(CheckedNumber(-1).nonNegative == nil)
    #expect(CheckedNumber(0).nonNegative == 0)
    #expect(CheckedNumber(5).value(in: 0...5) == 5)
    #expect(CheckedNumber(6).value(in: 0...5) == nil)
    #expect(Range(from: 3, upTo: 2) == nil)
    #expect(Range(from: 3, upTo: 3) == 3..<3)
    #expect(Int64.max.saturatingSum(1) == .max)
    #expect(Int64.min.saturatingSum(-1) == .min)
    #expect(Int64(4).saturatingSum(-5) == -1)
  }
}
