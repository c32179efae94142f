import TransferAPI

/// What the fields of requests are called on the command line. This is the only table of it; a test compares it with the
/// declarations of the commands.
enum FieldOptions {
  /// Options whose names are not the fields' names in words with dashes.
  private static let others = [
    "destination": "-o", "directory": "-d", "headers": "--header", "secretHeaders": "--secret-header",
    "createDirectories": "--create-dirs", "nameFromResponse": "-J", "maxAttempts": "--retries", "mirrors": "--mirror",
    "ipVersion": "-4", "httpVersion": "--http1.1",
  ]

  /// Fields without an option: arguments, what the command or a Metalink fills in, and what only lines of JSON have.
  static let withoutOption: Set<String> = ["kind", "source", "url", "spool", "size", "pieces", "collection"]

  /// Fields of `PATCH /v1/limits` and `PATCH /v1/batches/{name}`, and of queries.
  private static let ofOtherRequests: Set<String> = ["down", "up", "maxActive", "maxPerOrigin", "owner"]

  /// Every field that a command may set.
  static let fields = NewJob.names.union(NewFolder.names).union(ofOtherRequests)

  /// The option with its dashes; `nil` for a field that has none, or that is not known.
  static func option(of field: String) -> String? {
    guard fields.contains(field), !withoutOption.contains(field) else { return nil }
    return others[field] ?? "--" + words(of: field)
  }

  /// `retryFor` → `retry-for`
  private static func words(of field: String) -> String {
    field.map { $0.isUppercase ? "-" + $0.lowercased() : String($0) }.joined()
  }
}

extension FieldText {
  /// With options in the place of fields.
  var namingOptions: String { named(FieldOptions.option(of:)) }
}
