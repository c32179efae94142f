/// One parser under attack: a name, and a check that takes any bytes.
///
/// The tests replay the corpus kept in `Corpora/<name>`; `make fuzz` lets libFuzzer look for more.
struct FuzzCase: Sendable {
  /// The name of the case and of its folder below `Corpora`.
  let name: String
  /// The longest input that libFuzzer makes, in bytes.
  let maximumLength: Int
  /// Parses the bytes and checks what came out. It throws `BrokenProperty`; a trap, a sanitizer's report or a timeout
  /// is a finding too.
  let check: @Sendable ([UInt8]) throws -> Void

  init(_ name: String, maximumLength: Int = 4096, _ check: @escaping @Sendable ([UInt8]) throws -> Void) {
    self.name = name
    self.maximumLength = maximumLength
    self.check = check
  }

  static func named(_ name: String) -> FuzzCase? { all.first { $0.name == name } }
}

/// What must hold for every input does not hold for this one.
struct BrokenProperty: Error, CustomStringConvertible {
  let description: String
}

/// Throws `BrokenProperty` unless the condition holds.
func require(_ condition: Bool, _ property: @autoclosure () -> String) throws {
  if !condition { throw BrokenProperty(description: property()) }
}
