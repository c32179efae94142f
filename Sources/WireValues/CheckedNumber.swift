/// The result of arithmetic on untrusted numbers (from a server, a file, the database or a client), or no value if a
/// result did not fit.
///
/// Swift's integer operators and conversions stop the program when a result does not fit. A server must not be able to
/// cause that. Here a result that does not fit is `nil`, and it stays `nil` in every further operation:
///
/// ```swift
/// guard let end = (CheckedNumber(first) + length).value(in: 0...total) else { throw … }
/// ```
///
/// `scripts/lint-numbers.py` finds arithmetic on such values that does not use this type.
@frozen public struct CheckedNumber: Sendable, Hashable {
  /// `nil` if an intermediate or final result did not fit 64 bits.
  public let value: Int64?

  /// The number, if it fits 64 bits.
  @inlinable public init(_ number: some BinaryInteger) { value = Int64(exactly: number) }

  /// Makes a number from an optional; `nil` gives no value.
  @inlinable public init(_ number: Int64?) { value = number }

  /// The nearest integer, or no value for NaN, infinities and numbers that do not fit 64 bits.
  @inlinable public init(rounding number: Double) { value = Int64(exactly: number.rounded()) }

  /// Parses ASCII digits without a sign, the only form of numbers in HTTP (`1*DIGIT`, RFC 9110 §8.6). Other text, and
  /// numbers that do not fit 63 bits, give no value.
  @inlinable public init(digits text: some StringProtocol) {
    let isDigits = !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    value = isDigits ? Int64(text) : nil
  }

  /// The value as an `Int`.
  @inlinable public var int: Int? { value.flatMap { Int(exactly: $0) } }

  /// The value if it is 0 or more, as sizes, offsets and counts must be.
  @inlinable public var nonNegative: Int64? { value.flatMap { $0 >= 0 ? $0 : nil } }

  /// The value if it lies within a range.
  @inlinable public func value(in range: ClosedRange<Int64>) -> Int64? {
    value.flatMap { range.contains($0) ? $0 : nil }
  }

  /// The value, or an error.
  @inlinable public func orThrow<Failure: Error>(_ error: @autoclosure () -> Failure) throws(Failure) -> Int64 {
    guard let value else { throw error() }
    return value
  }

  @inlinable public static func + (left: Self, right: Self) -> Self {
    left.combined(right) { $0.addingReportingOverflow($1) }
  }

  @inlinable public static func - (left: Self, right: Self) -> Self {
    left.combined(right) { $0.subtractingReportingOverflow($1) }
  }

  @inlinable public static func * (left: Self, right: Self) -> Self {
    left.combined(right) { $0.multipliedReportingOverflow(by: $1) }
  }

  /// Rounds towards 0. Division by 0 gives no value.
  @inlinable public static func / (left: Self, right: Self) -> Self {
    left.combined(right) { $0.dividedReportingOverflow(by: $1) }
  }

  @inlinable public static func + (left: Self, right: some BinaryInteger) -> Self { left + CheckedNumber(right) }
  @inlinable public static func - (left: Self, right: some BinaryInteger) -> Self { left - CheckedNumber(right) }
  @inlinable public static func * (left: Self, right: some BinaryInteger) -> Self { left * CheckedNumber(right) }
  @inlinable public static func / (left: Self, right: some BinaryInteger) -> Self { left / CheckedNumber(right) }

  @inlinable func combined(_ other: Self, _ operation: (Int64, Int64) -> (Int64, Bool)) -> Self {
    guard let value, let right = other.value else { return CheckedNumber(nil) }
    let (result, overflow) = operation(value, right)
    return CheckedNumber(overflow ? nil : result)
  }
}

extension Sequence<Int64> {
  /// The sum, if it fits 64 bits.
  @inlinable public var checkedSum: CheckedNumber { reduce(CheckedNumber(0)) { $0 + $1 } }
}

extension FixedWidthInteger {
  /// The sum, or the nearest bound if it does not fit. For numbers that are only displayed or compared.
  @inlinable public func saturatingSum(_ other: Self) -> Self {
    let (sum, overflow) = addingReportingOverflow(other)
    guard overflow else { return sum }
    return other < 0 ? .min : .max
  }
}

extension Range where Bound: Comparable {
  /// `nil` if the upper bound is below the lower one; `..<` would stop the program.
  @inlinable public init?(from lower: Bound, upTo upper: Bound) {
    guard lower <= upper else { return nil }
    self = lower..<upper
  }
}
