import WireValues

/// Consecutive lines of a list that became jobs with consecutive ids: `{"lines":[a,b],"ids":[x,y]}`, a line of the response
/// to `POST /v1/jobs:batch`.
///
/// Written and read without a JSON coder: a list may have a million lines.
public struct AddedRun: Equatable, Sendable {
  /// The first and the last line, from 1.
  public var lines: ClosedRange<Int>
  /// The id of the first line's job. Line `a + n` became job `x + n`.
  private var firstID: JobID

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

  /// Reads what `json` writes, from bytes that are contiguous in memory. Other JSON of the same meaning is not read: `nil`.
  public init?(json text: some Collection<UInt8>) {
    let run: AddedRun? = text.withContiguousStorageIfAvailable { Self(scanning: UnsafeRawBufferPointer($0)) } ?? nil
    guard let run else { return nil }
    self = run
  }

  private init?(scanning bytes: UnsafeRawBufferPointer) {
    var scan = JSONScan(bytes)
    guard scan.skip("{\"lines\":["), let first = scan.number(), scan.skip(","), let last = scan.number(),
      scan.skip("],\"ids\":["), let low = scan.number(), scan.skip(","), let high = scan.number(), scan.skip("]}"),
      scan.isAtEnd, first >= 1, low >= 1, first <= last,
      last - first == high - low  // checked: numbers of at most 18 digits
    else { return nil }
    lines = Int(first)...Int(last)  // checked: first ≤ last, and both fit 63 bits
    firstID = JobID(low)
  }
}
