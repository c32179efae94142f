import TransferAPI
import WireValues

/// Splits a CSV file into records (RFC 4180): fields separated by commas; a field in quotes may contain commas, line ends and
/// doubled quotes. Lines end with CRLF or LF. Pure; takes the file in pieces.
struct CSVParser {
  struct Record: Equatable, Sendable {
    /// Its first line, from 1.
    let line: Int
    let fields: [[UInt8]]
  }

  private enum State {
    case fieldStart, plain, quoted
    /// Behind a quote in a quoted field: its end, or the first half of a doubled one.
    case quote
    /// Behind a CR.
    case carriageReturn
  }

  /// A record may have this many bytes, as a line of any other list.
  static let maximumBytes = ListFile.Reader.maximumLineBytes

  private var state = State.fieldStart
  private var fields: [[UInt8]] = []
  private var field: [UInt8] = []
  private var bytes = 0
  /// The line that is read, and the first one of the record.
  private var line = 1
  private var firstLine = 1

  /// Calls `body` with each record that ends in the piece. Blank lines are left out.
  /// - Throws: `WireError` that names the line, or what `body` throws.
  mutating func push(_ piece: some Sequence<UInt8>, _ body: (Record) throws -> Void) throws {
    for byte in piece {
      bytes += 1  // checked: at most maximumBytes, see below
      guard bytes <= Self.maximumBytes else { throw fault("the record is longer than \(Self.maximumBytes) bytes") }
      if let record = try take(byte) { try body(record) }
      if byte == 10 { line += 1 }
    }
  }

  /// The last record, if the file does not end with a line end.
  /// - Throws: `WireError` that names the line.
  mutating func finish() throws(WireError) -> Record? {
    if case .quoted = state { throw fault("a quote has no end") }
    return endRecord()
  }

  private mutating func take(_ byte: UInt8) throws(WireError) -> Record? {
    switch (state, byte) {
    case (.carriageReturn, 10): return endRecord()
    case (.carriageReturn, _): throw fault("a carriage return is not before a line end; put the field in quotes")
    case (.quoted, UInt8(ascii: "\"")): state = .quote
    case (.quoted, _): field.append(byte)
    case (.quote, UInt8(ascii: "\"")):
      field.append(byte)
      state = .quoted
    case (_, UInt8(ascii: ",")):
      endField()
    case (_, 10): return endRecord()
    case (_, 13): state = .carriageReturn
    case (.quote, _): throw fault("text follows a closing quote; double a quote inside a field")
    case (.fieldStart, UInt8(ascii: "\"")): state = .quoted
    case (.plain, UInt8(ascii: "\"")):
      throw fault("a quote stands inside a field; put the field in quotes and double it")
    case (.fieldStart, _), (.plain, _):
      field.append(byte)
      state = .plain
    }
    return nil
  }

  private mutating func endField() {
    fields.append(field)
    field = []
    state = .fieldStart
  }

  private mutating func endRecord() -> Record? {
    endField()
    defer {
      fields = []
      bytes = 0
      // `line` is the line that ends here.
      firstLine = line.saturatingSum(1)
    }
    return fields == [[]] ? nil : Record(line: firstLine, fields: fields)
  }

  private func fault(_ reason: String) -> WireError { WireError("line \(line): \(reason)") }
}
