import ArgumentParser
import TransferAPI

extension JobID: ExpressibleByArgument {
  public init?(argument: String) { self.init(argument) }
}

extension JobState: ExpressibleByArgument {}

/// `--format` of commands that print one item.
enum DetailFormat: String, ExpressibleByArgument, CaseIterable {
  case text, json

  /// Prints a value as one line of JSON, or as lines of text.
  func print(_ value: some Encodable, text: () throws -> [String]) throws {
    switch self {
    case .json: try Output.standard.line(try transferctl.json(value))
    case .text: try Output.standard.lines(try text())
    }
  }
}

/// Runs a check and reports its failure as a usage error, which names options.
/// - Parameter field: whose value is checked: the failure names its option in any case. The name in JSON, or an option that
///   sets no field.
func validated<Value>(about field: String? = nil, _ check: () throws -> Value) throws -> Value {
  do {
    return try check()
  } catch let error as WireError {
    let failure = if let field { error.about(field) } else { error }
    throw ValidationError(failure.text.namingOptions.printable)
  }
}
