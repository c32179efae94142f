extension JobOptions: Codable {
  /// Reads the options among the fields of a flat object. Other fields are ignored.
  public init(from decoder: any Decoder) throws {
    self.init()
    var reader = OptionReader(container: try decoder.container(keyedBy: OptionName.self))
    try visit(&reader)
  }

  /// Writes the options that differ from their defaults.
  public func encode(to encoder: any Encoder) throws {
    var writer = OptionWriter(container: encoder.container(keyedBy: OptionName.self))
    var options = self
    try options.visit(&writer)
  }

  /// As `encode(to:)`, without the options of the other kind.
  func encode(to encoder: any Encoder, for kind: JobKind) throws {
    var options = self
    if kind != .upload, kind != .relay { options.upload = Upload() }
    try options.encode(to: encoder)
  }
}

struct OptionReader: OptionVisitor {
  let container: KeyedDecodingContainer<OptionName>

  /// - Throws: for a value that cannot be read also `WireError` that names the option.
  func option<Value: Codable & Equatable & Sendable>(
    _ name: String, _ value: inout Value, default standard: Value
  ) throws {
    do {
      if let given = try container.decodeIfPresent(Value.self, forKey: OptionName(name)) { value = given }
    } catch let error as WireError {
      throw error.about(name)
    }
  }
}

struct OptionWriter: OptionVisitor {
  var container: KeyedEncodingContainer<OptionName>

  mutating func option<Value: Codable & Equatable & Sendable>(
    _ name: String, _ value: inout Value, default standard: Value
  ) throws {
    if value != standard { try container.encode(value, forKey: OptionName(name)) }
  }
}
