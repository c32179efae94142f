import ArgumentParser
import TransferAPI

extension JobID: ExpressibleByArgument {
  public init?(argument: String) { self.init(argument) }
}

extension JobState: ExpressibleByArgument {}

extension ByteRate: ExpressibleByArgument {
  public init?(argument: String) { self.init(argument) }
}

extension ByteSize: ExpressibleByArgument {
  public init?(argument: String) { self.init(argument) }
}

extension TimeSpan: ExpressibleByArgument {
  public init?(argument: String) { self.init(argument) }
}

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

/// Runs a check and reports its failure as a usage error.
func validated<Value>(_ check: () throws -> Value) throws -> Value {
  do {
    return try check()
  } catch let error as WireError {
    throw ValidationError(error.description.printable)
  }
}
