/// A number that may not exist: the result of arithmetic on values from outside (a wire, a file, the database, a client).
///
/// Swift's integer operators stop the program when a result does not fit, and so do its conversions. A server must not be
/// able to cause that. Here a result that does not fit is no number, and every further operation keeps it so:
///
/// ```swift
/// guard let end = (CheckedNumber(first) + length).value(in: 0...total) else { throw … }
/// ```
///
/// `scripts/lint-numbers.py` finds arithmetic on such values that does not use this type.
@frozen public struct CheckedNumber: Sendable, Hashable {
  /// `nil` where a step on the way did not fit 64 bits.
  public let value: Int64?

  /// The number, if it fits 64 bits.
  @inlinable public init(_ number: some BinaryInteger) { value = Int64(exactly: number) }

  /// No number where the optional holds none.
  @inlinable public init(_ number: Int64?) { value = number }

  /// The nearest integer; none for NaN, an infinity, and what does not fit 64 bits.
  @inlinable public init(rounding number: Double) { value = Int64(exactly: number.rounded()) }

  /// ASCII digits only, without a sign (RFC 9110 §5.6.1 has no other numbers); none where they do not fit 63 bits.
  @inlinable public init(digits text: some StringProtocol) {
    let isDigits = !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    value = isDigits ? Int64(text) : nil
  }

  /// The value as an `Int`.
  @inlinable public var int: Int? { value.flatMap { Int(exactly: $0) } }

  /// The value unless it is below 0: a size, an offset or a count.
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

  /// Rounds towards 0. There is no number where the divisor is 0.
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
  /// The sum, or the nearest bound: for numbers that are only shown or only compared, where an error would not help.
  @inlinable public func saturatingSum(_ other: Self) -> Self {
    let (sum, overflow) = addingReportingOverflow(other)
    guard overflow else { return sum }
    return other < 0 ? .min : .max
  }
}

extension Range where Bound: Comparable {
  /// `nil` where the upper bound lies below the lower one, which `..<` stops the program for.
  @inlinable public init?(from lower: Bound, upTo upper: Bound) {
    guard lower <= upper else { return nil }
    self = lower..<upper
  }
}
