/// A parser to fuzz: a name, and a check that accepts any bytes.
///
/// The tests replay the corpus in `Corpora/<name>`; `make fuzz` searches for new inputs with libFuzzer.
struct FuzzCase: Sendable {
  /// The name of the case and of its folder below `Corpora`.
  let name: String
  /// Maximum length of the inputs that libFuzzer generates, in bytes.
  let maximumLength: Int
  /// Parses the bytes and checks the result. It throws `BrokenProperty` if a property does not hold; a trap, a
  /// sanitizer's report or a timeout is also a finding.
  let check: @Sendable ([UInt8]) throws -> Void

  init(_ name: String, maximumLength: Int = 4096, _ check: @escaping @Sendable ([UInt8]) throws -> Void) {
    self.name = name
    self.maximumLength = maximumLength
    self.check = check
  }

  static func named(_ name: String) -> FuzzCase? { all.first { $0.name == name } }
}

/// A property that must hold for every input does not hold for this one.
struct BrokenProperty: Error, CustomStringConvertible {
  let description: String
}

/// Throws `BrokenProperty` unless the condition holds.
func require(_ condition: Bool, _ property: @autoclosure () -> String) throws {
  if !condition { throw BrokenProperty(description: property()) }
}
