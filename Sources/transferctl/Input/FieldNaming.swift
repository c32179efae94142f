import FoundationEssentials
import TransferAPI

/// What the fields of a list's jobs are called: as in its lines, or by the options of the command, which hold for every line.
struct FieldNaming: Equatable, Sendable {
  enum Form: Equatable, Sendable {
    /// Lines that have no fields: URLs and paths.
    case plain
    /// Lines of JSON.
    case json
    /// Columns and the like: their names by those in JSON.
    case names([String: String])
  }

  let form: Form
  /// The fields that options of the command set; the names in JSON.
  private let ofCommand: Set<String>

  /// Options alone.
  static let options = FieldNaming(.plain)

  init(_ form: Form, options: Set<String> = []) {
    self.form = form
    ofCommand = options
  }

  /// - Parameters:
  ///   - field: the name in JSON.
  ///   - given: the fields that the line has; `nil`: unknown.
  /// - Returns: `nil` for a field that keeps its name in JSON.
  func name(of field: String, given: Set<String>? = nil) -> String? {
    let option = FieldOptions.option(of: field)
    guard let own = listName(of: field) else { return option }
    guard ofCommand.contains(field), let option else { return own }
    guard let given else { return "\(own) (\(option))" }
    return given.contains(field) ? own : option
  }

  private func listName(of field: String) -> String? {
    switch form {
    case .plain: nil
    case .json: field
    case .names(let names): names[field]
    }
  }

  /// Makes a job of a line, and names the fields in its failure.
  /// - Parameter given: the fields that the line has.
  /// - Throws: `WireError` in place of an error that may name fields.
  func explaining<Value>(_ given: Set<String>, _ make: () throws -> Value) throws -> Value {
    do {
      return try make()
    } catch let error where error is WireError || error is DecodingError {
      throw WireError(WireCoding.explanation(of: error).named { name(of: $0, given: given) })
    }
  }
}

extension NewJob {
  /// The fields that differ from their defaults, besides those that name the job; the names in JSON.
  var givenFields: Set<String> {
    let encoder = WireCoding.encoder()
    encoder.userInfo[.newJobIsTemplate] = true
    guard let json = try? encoder.encode(self) else { return [] }
    return (try? WireCoding.decode(FieldNames.self, from: json))?.names ?? []
  }
}
