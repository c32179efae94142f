import WireValues

/// Consecutive lines of a list that became jobs with consecutive ids: `{"lines":[a,b],"ids":[x,y]}`, a line of the response
/// to `POST /v1/jobs:batch`.
///
/// Written and read without a JSON coder: a list may have a million lines.
public struct AddedRun: Equatable, Sendable {
  /// The first and the last line, from 1.
  public var lines: ClosedRange<Int>
  /// The id of the first line's job. Line `a + n` became job `x + n`.
  public var firstID: JobID

  public init(line: Int, id: JobID) {
    lines = line...line
    firstID = id
  }

  /// The number of jobs.
  public var count: Int { lines.count }

  /// The ids, ascending.
  public var ids: ClosedRange<Int64> { firstID.rawValue...firstID.rawValue.saturatingSum(Int64(count - 1)) }

  /// Appends a line's job if it continues the run.
  /// - Returns: whether it did.
  public mutating func extend(line: Int, id: JobID) -> Bool {
    guard (CheckedNumber(lines.upperBound) + 1).int == line,
      (CheckedNumber(firstID.rawValue) + count).value == id.rawValue
    else { return false }
    lines = lines.lowerBound...line  // checked: line is the number after the upper bound
    return true
  }

  /// The JSON object, without a newline.
  public var json: String {
    #"{"lines":[\#(lines.lowerBound),\#(lines.upperBound)],"ids":[\#(ids.lowerBound),\#(ids.upperBound)]}"#
  }

  /// Reads what `json` writes. Other JSON of the same meaning is not read: `nil`.
  public init?(json text: some Collection<UInt8>) {
    var rest = text[...]
    guard Self.skip("{\"lines\":[", &rest), let first = Self.number(&rest), Self.skip(",", &rest),
      let last = Self.number(&rest), Self.skip("],\"ids\":[", &rest), let low = Self.number(&rest),
      Self.skip(",", &rest), let high = Self.number(&rest), Self.skip("]}", &rest), rest.isEmpty, first >= 1, low >= 1,
      first <= last, last - first == high - low  // checked: numbers of at most 18 digits
    else { return nil }
    lines = Int(first)...Int(last)  // checked: first ≤ last, and both fit 63 bits
    firstID = JobID(low)
  }

  private static func skip<Text: Collection<UInt8>>(_ word: StaticString, _ rest: inout Text) -> Bool
  where Text.SubSequence == Text {
    for index in 0..<word.utf8CodeUnitCount {
      guard rest.popFirst() == word.utf8Start[index] else { return false }
    }
    return true
  }

  /// At most 18 digits, so that sums and differences of two numbers fit.
  private static func number<Text: Collection<UInt8>>(_ rest: inout Text) -> Int64?
  where Text.SubSequence == Text {
    var value: Int64 = 0
    var digits = 0
    while let byte = rest.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
      digits += 1
      guard digits <= 18 else { return nil }
      value = value * 10 + Int64(byte - UInt8(ascii: "0"))  // checked: at most 18 digits
      rest.removeFirst()
    }
    return digits > 0 ? value : nil
  }
}
