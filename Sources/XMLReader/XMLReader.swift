import CExpat

/// Reads XML 1.0 from outside, part by part, and reports its elements and texts while it reads. Only the names of open elements,
/// the current text, a tag or comment that has not ended, and each different name are kept, all of them within ``Limits``: a
/// document of any length takes constant memory, and time in proportion to its length.
///
/// Refused: what is not well-formed, document types (and with them every entity but the five of XML itself), and what is beyond
/// ``Limits``. A fault ends the reading: each later call throws the same error.
///
/// Not `Sendable`: one task reads one document.
public final class XMLReader {
  /// What bounds a document besides its length, which the caller bounds.
  public struct Limits: Sendable {
    /// The depth of elements inside each other.
    public var depth = 64
    /// The number of elements.
    public var elements = 1 << 20
    /// Bytes of one name with its namespace, of all attributes of one element, and of one text.
    public var textBytes = 1 << 16
    /// Bytes of memory for the parser. It keeps each different name of an element, an attribute and a prefix once.
    public var memoryBytes = 16 << 20

    /// Bytes of a tag, comment or processing instruction that may arrive before its end. A character of an attribute may be
    /// written with several bytes.
    var pendingBytes: Int {
      let (bytes, isTooLarge) = textBytes.multipliedReportingOverflow(by: 4)
      return isTooLarge ? .max : bytes
    }

    /// The most bytes that are parsed at once, so that little more than ``pendingBytes`` can be pending.
    var partBytes: Int { min(max(textBytes, 1), 1 << 20) }

    public init() {}
  }

  private let report: (XMLEvent) throws -> Void
  private let limits: Limits
  private var parser: OpaquePointer?
  private var failure: (any Error)?

  private var depth = 0
  private var elements = 0
  /// The text since the last tag. Expat reports a text in parts.
  private var text: [UInt8] = []

  /// Bytes that Expat has got.
  private var parsed: Int64 = 0
  /// Where the token begins that has not ended.
  private var understood: Int64 = 0
  /// Bytes from there on, which Expat reads again with the next part.
  private var pending = 0
  /// Bytes that are not parsed yet: too few compared with those that are pending.
  private var held: [UInt8] = []

  /// - Parameter report: Called for each event during ``read(_:)`` and ``finish()``. An error that it throws ends the reading.
  /// - Throws: ``XMLError/unavailable`` if the XML library cannot be loaded.
  public init(limits: Limits = Limits(), report: @escaping (XMLEvent) throws -> Void) throws {
    self.limits = limits
    self.report = report
    var handlers = expat_handlers()
    handlers.start = { context, name, attributes in
      XMLReader.from(context).handle { try $0.start(name!, attributes!) }
    }
    handlers.end = { context, name in XMLReader.from(context).handle { try $0.end(name!) } }
    handlers.text = { context, bytes, count in
      XMLReader.from(context).handle { try $0.append(UnsafeRawBufferPointer(start: bytes, count: Int(count))) }
    }
    handlers.document_type = { context, _, _, _, _ in
      XMLReader.from(context).handle { _ in throw XMLError.documentType }
    }
    parser = expat_new(&handlers, Unmanaged.passUnretained(self).toOpaque(), max(limits.memoryBytes, 0))
    guard parser != nil else { throw XMLError.unavailable }
  }

  deinit {
    if let parser { expat_free(parser) }
  }

  /// Reads the next part of the document. The end of a long tag may be reported with a later part, or by ``finish()``.
  ///
  /// - Throws: ``XMLError``, or what `report` throws.
  public func read(_ bytes: some Collection<UInt8>) throws {
    let isContiguous = try bytes.withContiguousStorageIfAvailable { try read(UnsafeRawBufferPointer($0)) } != nil
    if !isContiguous { try Array(bytes).withUnsafeBytes(read) }
  }

  /// Reads the next part of the document. The end of a long tag may be reported with a later part, or by ``finish()``.
  ///
  /// - Throws: ``XMLError``, or what `report` throws.
  public func read(_ bytes: UnsafeRawBufferPointer) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      let part = rest.prefix(limits.partBytes)
      rest = rest.dropFirst(limits.partBytes)
      try take(UnsafeRawBufferPointer(rebasing: part))
    }
  }

  /// Parses a part, together with those that were held back. What is pending is read again each time, so it must not be much more
  /// than the part: then each byte is read a few times, however short the parts are.
  private func take(_ part: UnsafeRawBufferPointer) throws {
    if let failure { throw failure }
    // checked: both are at most partBytes or a quarter of pendingBytes and a part
    guard held.count + part.count >= pending / 4 else {
      held += part
      return
    }
    guard !held.isEmpty else { return try parse(part, isLast: false) }
    var whole = held
    held = []
    whole += part
    try whole.withUnsafeBytes { try parse($0, isLast: false) }
  }

  /// Says that the document ends here.
  ///
  /// - Throws: ``XMLError``, also if the document is incomplete, or what `report` throws.
  public func finish() throws {
    let rest = held
    held = []
    try rest.withUnsafeBytes { try parse($0, isLast: true) }
  }

  private func parse(_ bytes: UnsafeRawBufferPointer, isLast: Bool) throws {
    if let failure { throw failure }
    let isFine = expat_parse(parser, bytes.bindMemory(to: CChar.self).baseAddress, Int32(bytes.count), isLast ? 1 : 0)
    if failure == nil, isFine == 0 { failure = problem }
    if failure == nil, !isLast { failure = countPending(bytes.count) }
    if let failure { throw failure }
  }

  /// Why Expat has failed.
  private var problem: XMLError {
    guard expat_is_full(parser) == 0 else {
      return .tooLarge("more different names than \(limits.memoryBytes) bytes of memory can hold")
    }
    return .malformed(line: UInt(expat_line(parser)), reason: String(cString: expat_problem(parser)))
  }

  /// Notes how many bytes Expat keeps of those that it has got.
  /// - Returns: an error if they are too many.
  private func countPending(_ count: Int) -> XMLError? {
    parsed += Int64(count)  // checked: no document has 2^63 bytes
    // An unknown offset is -1.
    understood = max(understood, Int64(expat_offset(parser)))
    pending = Int(parsed - understood)  // checked: 0 ≤ understood ≤ parsed
    guard pending > limits.pendingBytes else { return nil }
    return .tooLarge("a tag or comment of more than \(limits.pendingBytes) bytes")
  }

  // MARK: - What Expat reports

  private static func from(_ context: UnsafeMutableRawPointer?) -> XMLReader {
    Unmanaged<XMLReader>.fromOpaque(context!).takeUnretainedValue()
  }

  /// An error cannot pass through C: it is kept, and the parser stops.
  private func handle(_ event: (XMLReader) throws -> Void) {
    guard failure == nil else { return }
    do {
      try event(self)
    } catch {
      failure = error
      expat_stop(parser)
    }
  }

  private func start(_ name: UnsafePointer<CChar>, _ attributes: UnsafeMutablePointer<UnsafePointer<CChar>?>) throws {
    try reportText()
    depth += 1
    elements += 1
    guard depth <= limits.depth else { throw XMLError.tooLarge("elements inside \(limits.depth) others") }
    guard elements <= limits.elements else { throw XMLError.tooLarge("more than \(limits.elements) elements") }
    var bytes = limits.textBytes
    var values: [XMLAttribute] = []
    let element = XMLName(try string(name, within: &bytes))
    var next = attributes
    while let key = next[0], let value = next[1] {
      values.append(
        XMLAttribute(name: XMLName(try string(key, within: &bytes)), value: try string(value, within: &bytes)))
      next += 2  // checked: a list that ends with NULL
    }
    try report(.start(element, attributes: values))
  }

  private func end(_ name: UnsafePointer<CChar>) throws {
    try reportText()
    depth -= 1
    try report(.end(XMLName(String(cString: name))))
  }

  private func append(_ bytes: UnsafeRawBufferPointer) throws {
    guard bytes.count <= limits.textBytes - text.count else { throw Self.longText(limits) }
    text += bytes
  }

  private func reportText() throws {
    guard !text.isEmpty else { return }
    let whole = String(decoding: text, as: UTF8.self)
    text.removeAll(keepingCapacity: true)
    try report(.text(whole))
  }

  private func string(_ text: UnsafePointer<CChar>, within bytes: inout Int) throws -> String {
    let string = String(cString: text)
    guard string.utf8.count <= bytes else { throw Self.longText(limits) }
    bytes -= string.utf8.count
    return string
  }

  private static func longText(_ limits: Limits) -> XMLError {
    .tooLarge("a name or text of more than \(limits.textBytes) bytes")
  }
}
