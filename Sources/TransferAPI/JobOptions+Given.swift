import FoundationEssentials

extension JobOptions {
  /// The names of all options in JSON.
  public static let names = named { options, visitor in try options.visit(&visitor) }
  /// The names of the options that only uploads have.
  public static let uploadNames = named { options, visitor in try options.upload.visit(&visitor) }

  /// How the value of each option is written in JSON.
  public static let forms: [String: OptionForm] = {
    var lister = OptionForms()
    var options = JobOptions()
    // The visitor does not throw.
    try? options.visit(&lister)
    return lister.forms
  }()

  /// The name of an option that only downloads have and that differs from its default; `nil`: there is none.
  public var firstDownloadOption: String? {
    var lister = OptionLister(listsDefaults: false)
    var options = download
    try? options.visit(&lister)
    return lister.texts.first?.name
  }

  /// Takes options from a template.
  /// - Parameter given: the names of the options that keep their own value. Header fields are merged name by name.
  public mutating func fill(from template: JobOptions, except given: Set<String>) {
    if given.isEmpty, self == JobOptions() {
      self = template
      return
    }
    var given = given
    if !given.isDisjoint(with: Self.aboutExistingFiles) { given.formUnion(Self.aboutExistingFiles) }
    var collector = OptionCollector()
    var template = template
    // Neither visitor throws.
    try? template.visit(&collector)
    var filler = OptionFiller(values: collector.values, given: given)
    let own = Set((Array(headers.keys) + Array(secretHeaders.keys)).map { $0.lowercased() })
    let (headers, secretHeaders) = (headers, secretHeaders)
    try? visit(&filler)
    self.headers = headers.merging(template.headers.filter { !own.contains($0.key.lowercased()) }) { own, _ in own }
    self.secretHeaders = secretHeaders.merging(
      template.secretHeaders.filter { !own.contains($0.key.lowercased()) }
    ) { own, _ in own }
  }

  /// The options that both kinds of jobs have and that differ from their defaults, for people.
  public var sharedTexts: [(name: String, text: String)] {
    var lister = OptionLister(listsDefaults: false)
    var options = self
    try? options.visitShared(&lister)
    return lister.texts
  }

  private static func named(_ visit: (inout JobOptions, inout OptionLister) throws -> Void) -> Set<String> {
    var lister = OptionLister(listsDefaults: true)
    var options = JobOptions()
    try? visit(&options, &lister)
    return Set(lister.texts.map(\.name))
  }
}

/// Lists options by name, with their values as text.
private struct OptionLister: OptionVisitor {
  let listsDefaults: Bool
  var texts: [(name: String, text: String)] = []

  mutating func option<Value: Codable & Equatable & Sendable>(
    _ name: String, _ value: inout Value, default standard: Value
  ) throws {
    guard listsDefaults || value != standard else { return }
    let unwrapped: Any = if let optional = value as? any OptionalOption { optional.wrapped ?? "" } else { value }
    texts.append((name, (unwrapped as? Date).map(WireCoding.rfc3339) ?? "\(unwrapped)"))
  }
}

private protocol OptionalOption {
  var wrapped: Any? { get }
}

extension Optional: OptionalOption {
  fileprivate var wrapped: Any? { map { $0 } }
}

private struct OptionCollector: OptionVisitor {
  var values: [String: any Sendable] = [:]

  mutating func option<Value: Codable & Equatable & Sendable>(
    _ name: String, _ value: inout Value, default standard: Value
  ) throws {
    values[name] = value
  }
}

private struct OptionFiller: OptionVisitor {
  let values: [String: any Sendable]
  let given: Set<String>

  func option<Value: Codable & Equatable & Sendable>(
    _ name: String, _ value: inout Value, default standard: Value
  ) throws {
    if !given.contains(name), let other = values[name] as? Value { value = other }
  }
}

/// The type of an option's value in JSON.
public enum OptionForm: Equatable, Sendable {
  case flag
  /// An integer.
  case number
  /// A string that is read as a time.
  case time
  /// A string. Rates, sizes and durations may be strings with units.
  case text
  /// An array of integers.
  case numbers
  /// An array of strings.
  case texts
  /// An object whose values are strings.
  case fields
}

private struct OptionForms: OptionVisitor {
  var forms: [String: OptionForm] = [:]

  mutating func option<Value: Codable & Equatable & Sendable>(
    _ name: String, _ value: inout Value, default standard: Value
  ) throws {
    forms[name] =
      switch Value.self {
      case is Bool.Type: .flag
      case is [Int].Type: .numbers
      case is [String].Type, is [JobDependency].Type: .texts
      case is Int?.Type, is Int.Type, is Int64?.Type: .number
      case is Date?.Type: .time
      case is any OptionMap.Type: .fields
      default: .text
      }
  }
}
