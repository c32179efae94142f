import FoundationEssentials
import Glibc
import WireValues

/// Reads JSON of a known form, from its beginning to its end. Other JSON gives `nil`.
struct JSONScan {
  private var rest: UnsafeRawBufferPointer

  init(_ bytes: UnsafeRawBufferPointer) { rest = bytes }

  var isAtEnd: Bool { rest.isEmpty }

  mutating func skip(_ word: StaticString) -> Bool {
    let count = word.utf8CodeUnitCount
    guard rest.count >= count, let start = rest.baseAddress, memcmp(start, word.utf8Start, count) == 0 else {
      return false
    }
    advance(count)
    return true
  }

  /// An integer of at most 18 digits.
  mutating func number() -> Int64? {
    let isNegative = rest.first == UInt8(ascii: "-")
    var index = isNegative ? 1 : 0
    let start = index
    var value: Int64 = 0
    while index < rest.count, rest[index].isASCIIDigit {
      guard index - start < 18 else { return nil }  // checked: indices of the text
      value = value * 10 + Int64(rest[index] - UInt8(ascii: "0"))  // checked: at most 18 digits
      index += 1
    }
    guard index > start else { return nil }
    advance(index)
    return isNegative ? 0 - value : value
  }

  mutating func optionalNumber() -> Int64?? { skip("null") ? .some(nil) : number().map { $0 } }

  mutating func string() -> String? {
    guard rest.first == UInt8(ascii: "\"") else { return nil }
    var index = 1
    while index < rest.count, rest[index] != UInt8(ascii: "\"") {
      // A text with escapes is read by a coder.
      guard rest[index] != UInt8(ascii: "\\"), rest[index] >= 0x20 else { return nil }
      index += 1
    }
    guard index < rest.count else { return nil }
    defer { advance(index + 1) }
    return String(validating: UnsafeRawBufferPointer(rebasing: rest[1..<index]), as: UTF8.self)  // checked: index ≥ 1
  }

  mutating func optionalString() -> String?? { skip("null") ? .some(nil) : string().map { $0 } }

  /// One of a few words.
  mutating func optionalWord<Word: RawRepresentable<String>>(_ type: Word.Type) -> Word?? {
    guard let word = optionalString() else { return nil }
    guard let word else { return .some(nil) }
    return Word(rawValue: word).map { $0 }
  }

  /// `"2026-11-21T04:17:09.000Z"`. Before 1600 the formatter's calendar is the Julian one: `nil`.
  mutating func optionalDate() -> Date?? {
    if skip("null") { return .some(nil) }
    guard rest.count >= 26, rest[0] == UInt8(ascii: "\""), rest[25] == UInt8(ascii: "\"") else { return nil }
    let separators: [(Int, UInt8)] = [
      (5, UInt8(ascii: "-")), (8, UInt8(ascii: "-")), (11, UInt8(ascii: "T")), (14, UInt8(ascii: ":")),
      (17, UInt8(ascii: ":")), (20, UInt8(ascii: ".")), (24, UInt8(ascii: "Z")),
    ]
    guard separators.allSatisfy({ rest[$0.0] == $0.1 }), let year = digits(1, 4), let month = digits(6, 2),
      let day = digits(9, 2), let hour = digits(12, 2), let minute = digits(15, 2), let second = digits(18, 2),
      let thousandth = digits(21, 3), year >= 1600, (1...12).contains(month), (1...31).contains(day), hour < 24,
      minute < 60, second < 60
    else { return nil }
    advance(26)
    // checked: all have at most four digits
    let time = ((Self.days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second
    return Date(timeIntervalSince1970: Double(time * 1000 + thousandth) / 1000)  // checked: as above
  }

  private func digits(_ start: Int, _ count: Int) -> Int? {
    var value = 0
    for index in start..<(start + count) {  // checked: constants of this program
      guard rest[index].isASCIIDigit else { return nil }
      value = value * 10 + Int(rest[index] - UInt8(ascii: "0"))
    }
    return value
  }

  /// Days since 1970-01-01 in the Gregorian calendar, for years of four digits.
  private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
    // The year begins in March, so that the leap day is its last one.
    let year = month <= 2 ? year - 1 : year
    let shifted = (month + 9) % 12
    let beforeYear = year * 365 + floored(year, 4) - floored(year, 100) + floored(year, 400)
    return beforeYear + (shifted * 153 + 2) / 5 + day - 1 - 719_468
  }

  private static func floored(_ value: Int, _ divisor: Int) -> Int {
    value >= 0 ? value / divisor : (value - divisor + 1) / divisor
  }

  private mutating func advance(_ count: Int) { rest = UnsafeRawBufferPointer(rebasing: rest[count...]) }
}
