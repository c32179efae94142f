import TransferAPI
import WireValues

/// `-o`: a file name or a path below a directory, with fields of the URL: `{host}/{path}`, `{n}-{name}`. Pure.
///
/// Values of fields are made safe, so that the result stays below the directory.
struct OutputTemplate: Equatable, Sendable {
  enum Field: String, CaseIterable, Sendable {
    /// Without port.
    case host
    /// The directories of the URL's path and the name.
    case path
    /// The last segment of the URL's path.
    case name
    /// The number of the job in this call, from 1.
    case n
  }

  /// What stands for a name that the URL does not have.
  static let unnamed = "download"

  private let template: BraceTemplate<Field>

  /// - Throws: `WireError` for an unknown field, an unpaired brace, or a path that is not below the directory.
  init(parsing text: String) throws(WireError) {
    template = try BraceTemplate(parsing: text, in: "-o")
    let sample = template.filled { _ in "x" }
    try Syntax.check(outputName: sample)
    if !isConstant, sample.isAbsolutePath {
      throw WireError("-o with fields is a path below -d, so it must not begin with /; use -d for the directory")
    }
  }

  /// Whether every URL gives the same path.
  var isConstant: Bool { template.isConstant }

  /// - Parameter number: of the job in this call, from 1.
  func expanded(for url: String, number: Int) -> String {
    let names = URLNames(url)
    let whole = template.filled { field in
      switch field {
      case .host: names.host ?? "host"
      case .path: (names.directories + [names.name ?? Self.unnamed]).joined(separator: "/")
      case .name: names.name ?? Self.unnamed
      case .n: String(number)
      }
    }
    guard !isConstant else { return whole }
    // A value and the text beside it may be too long together.
    return whole.componentsOfPath.map { SafeName.shortened(String($0), to: SafeName.maximumBytes) }
      .joined(separator: "/")
  }
}
