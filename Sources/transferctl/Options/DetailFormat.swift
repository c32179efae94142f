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
}

/// Runs a check and reports its failure as a usage error.
func validated<Value>(_ check: () throws -> Value) throws -> Value {
  do {
    return try check()
  } catch let error as WireError {
    throw ValidationError(error.description.printable)
  }
}
