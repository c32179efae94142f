import FoundationEssentials
import Store
import TransferAPI
import WireValues

/// Writes exported jobs as lines of JSON. Jobs with the same options share a template: the line of the first of them,
/// cut at the texts that differ between jobs. A job with a secret is encoded without a template.
struct ExportLines {
  private struct Template {
    let record: JobRecord
    /// The bytes before each text, and after the last one.
    let literals: [[UInt8]]
    let places: [Place]
  }

  private enum Place: String, CaseIterable {
    case source, destination, batch, key

    /// A text between private-use characters, which options rarely contain. If they do, the job gets no template.
    var mark: String { "\u{E000}\(rawValue)\u{E001}" }

    func text(of record: JobRecord) -> String {
      switch self {
      case .source: record.spec.source
      case .destination: String(record.spec.destination.withoutTrailingSlash)
      case .batch: record.spec.batch ?? ""
      case .key: record.spec.key ?? ""
      }
    }
  }

  private var templates: [Template] = []

  /// Maximum number of templates that are kept.
  private static let maximumTemplates = 8

  /// Appends the line of a job.
  mutating func write(_ record: JobRecord, to text: inout JSONText) throws {
    guard Self.isPlain(record) else { return text.raw(try Self.encoded(record)) }
    if let template = templates.first(where: { Self.isAlike($0.record, record) }) {
      return Self.write(record, by: template, to: &text)
    }
    guard let template = try Self.template(of: record) else { return text.raw(try Self.encoded(record)) }
    if templates.count >= Self.maximumTemplates { templates.removeFirst() }
    templates.append(template)
    Self.write(record, by: template, to: &text)
  }

  private static func write(_ record: JobRecord, by template: Template, to text: inout JSONText) {
    for (literal, place) in zip(template.literals, template.places) {
      text.raw(literal)
      text.string(place.text(of: record))
    }
    if let last = template.literals.last { text.raw(last) }
  }

  /// Whether the texts are exported as they are.
  private static func isPlain(_ record: JobRecord) -> Bool {
    let spec = record.spec
    let url = spec.url.utf8
    return spec.credentials == nil && spec.relay == nil && spec.destination != "/"
      && !url.contains { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") || $0 == UInt8(ascii: "@") }
  }

  /// Whether the lines of two jobs differ only in their texts.
  private static func isAlike(_ one: JobRecord, _ other: JobRecord) -> Bool {
    one.spec.kind == other.spec.kind && one.job.state == other.job.state && one.spec.priority == other.spec.priority
      && (one.spec.batch == nil) == (other.spec.batch == nil) && (one.spec.key == nil) == (other.spec.key == nil)
      && one.spec.destination.hasTrailingSlash == other.spec.destination.hasTrailingSlash
      && (one.openDependencies == 0) == (other.openDependencies == 0) && one.spec.options == other.spec.options
  }

  /// `nil` if the options have a secret, or a text that looks like a mark.
  private static func template(of record: JobRecord) throws -> Template? {
    guard record.spec.omittedFromExport == nil, record.spec.options.redacted() == record.spec.options else {
      return nil
    }
    var marked = record
    marked.spec.source = Place.source.mark
    marked.spec.destination = Place.destination.mark + (record.spec.destination.hasTrailingSlash ? "/" : "")
    if record.spec.batch != nil { marked.spec.batch = Place.batch.mark }
    if record.spec.key != nil { marked.spec.key = Place.key.mark }
    var rest = try encoded(marked)[...]
    var (literals, places): ([[UInt8]], [Place]) = ([], [])
    while let (range, place) = Self.firstMark(in: rest) {
      literals.append(Array(rest[..<range.lowerBound]))
      places.append(place)
      rest = rest[range.upperBound...]
    }
    literals.append(Array(rest))
    let expected = 2 + (record.spec.batch == nil ? 0 : 1) + (record.spec.key == nil ? 0 : 1)
    guard places.count == expected, Set(places).count == expected else { return nil }
    return Template(record: record, literals: literals, places: places)
  }

  private static func firstMark(in text: Data) -> (range: Range<Data.Index>, place: Place)? {
    Place.allCases.compactMap { place in
      text.firstRange(of: Data("\"\(place.mark)\"".utf8)).map { ($0, place) }
    }.min { $0.0.lowerBound < $1.0.lowerBound }
  }

  private static func encoded(_ record: JobRecord) throws -> Data {
    try Reply.line(
      ExportedJob(request: NewJob(record), state: record.job.state, omitted: record.spec.omittedFromExport))
  }
}
