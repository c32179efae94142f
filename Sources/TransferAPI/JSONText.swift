public import FoundationEssentials
import WireValues

/// Builds JSON value by value, in the form that `WireCoding` writes.
public struct JSONText: Sendable {
  /// The text so far, in UTF-8.
  public private(set) var bytes: [UInt8] = []
  /// The text of the last time: lists have many times of the same day.
  private var day: (number: Int64, text: [UInt8])?

  public init() {}

  /// Removes the text, but keeps its memory for reuse.
  public mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

  /// Appends text that is JSON already.
  public mutating func literal(_ text: StaticString) {
    bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  /// Appends text that is JSON already.
  public mutating func raw(_ text: some Collection<UInt8>) { bytes.append(contentsOf: text) }

  public mutating func number(_ value: Int64?) {
    guard let value else { return literal("null") }
    // An Int64 has at most 20 characters.
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { buffer in
      var rest = value.magnitude
      var position = 20
      repeat {
        position -= 1  // checked: 20 digits at most
        buffer[position] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)  // checked: one decimal digit
        rest /= 10
      } while rest > 0
      if value < 0 { bytes.append(UInt8(ascii: "-")) }
      bytes.append(contentsOf: buffer[position..<20])  // checked: 20 digits at most
    }
  }

  public mutating func string(_ text: String?) {
    guard var text else { return literal("null") }
    bytes.append(UInt8(ascii: "\""))
    text.withUTF8 { utf8 in
      if utf8.allSatisfy({ $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }) {
        bytes.append(contentsOf: utf8)
      } else {
        for byte in utf8 {
          switch byte {
          case ..<0x20: bytes.append(contentsOf: Self.escapes[Int(byte)])
          case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(contentsOf: [UInt8(ascii: "\\"), byte])
          default: bytes.append(byte)
          }
        }
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  /// A time in RFC 3339 with milliseconds, UTC; `null` for `nil`.
  public mutating func date(_ date: Date?) {
    guard let date else { return literal("null") }
    bytes.append(UInt8(ascii: "\""))
    // To the nearest millisecond, as `WireCoding.rfc3339` does.
    let milliseconds = CheckedNumber(rounding: date.timeIntervalSince1970 * 1000)
    // Years with four digits: 0001 to 9999.
    guard let total = milliseconds.value(in: -62_135_596_800_000...253_402_300_799_999) else {
      raw(WireCoding.rfc3339(date).utf8)
      bytes.append(UInt8(ascii: "\""))
      return
    }
    // checked: a bounded number of milliseconds, rounded down
    let number = total >= 0 ? total / 86_400_000 : (total - 86_399_999) / 86_400_000
    let inDay = Int(total - number * 86_400_000)  // checked: 0 to 86399999
    if day?.number != number { day = (number, Self.text(ofDay: number)) }
    if let day { bytes.append(contentsOf: day.text) }
    digits(inDay / 3_600_000, 2, ":")
    digits(inDay / 60_000 % 60, 2, ":")
    digits(inDay / 1000 % 60, 2, ".")
    digits(inDay % 1000, 3, "Z")
    bytes.append(UInt8(ascii: "\""))
  }

  /// A value that most lines do not have, written by a coder; `null` for `nil`.
  mutating func rare(_ value: (some Encodable)?) throws {
    guard let value else { return literal("null") }
    raw(try WireCoding.encoder().encode(value))
  }

  private mutating func digits(_ value: Int, _ count: Int, _ separator: Unicode.Scalar) {
    if count == 3 { bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value / 100)) }  // checked: below 1000
    bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value / 10 % 10))  // checked: one decimal digit
    bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value % 10))  // checked: one decimal digit
    bytes.append(UInt8(ascii: separator))
  }

  /// `2026-11-21T`
  private static func text(ofDay number: Int64) -> [UInt8] {
    let text = WireCoding.rfc3339(Date(timeIntervalSince1970: Double(number) * 86400))
    return Array(text.utf8.prefix(11))
  }

  /// Control characters as the coder writes them.
  private static let escapes: [[UInt8]] = (0..<0x20).map { code in
    let text = (try? WireCoding.encoder().encode([String(Unicode.Scalar(UInt8(code)))])) ?? Data()
    return Array(text.dropFirst(2).dropLast(2))
  }
}
