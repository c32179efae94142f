/// Where the secrets of a job or of a remote cleanup are stored.
struct SecretPlace: Equatable {
  /// The row of `secret`.
  var id: Int64
  /// In bytes of its data.
  var offset: Int
  var length: Int
}

extension SecretPlace {
  /// Reads `secret`, `secret_offset` and `secret_length`; `nil` if the first is NULL.
  init?(_ reader: inout RowReader) throws {
    guard let id = try reader.optionalInt64("secret") else { return nil }
    self.init(id: id, offset: try reader.int("secret_offset"), length: try reader.int("secret_length"))
  }
}

extension ParameterBinder {
  /// Binds `:secret`, `:secret_offset` and `:secret_length`; all NULL for `nil`.
  mutating func secretPlace(_ place: SecretPlace?) {
    self("secret", place?.id)
    self("secret_offset", place?.offset)
    self("secret_length", place?.length)
  }
}
