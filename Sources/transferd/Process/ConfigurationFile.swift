import FoundationEssentials
import Glibc
import Yams

/// The settings in a YAML file. Unknown keys are errors, so that a misspelt key is not silently ignored.
struct ConfigurationFile: Equatable, Sendable {
  /// The top-level key that contains all settings.
  static let section = "transferd"

  enum Value: Equatable, Sendable {
    case scalar(String)
    case list([String])
    /// A list of mappings, each with its keys and values.
    case mappings([[Field]])
    /// The key has no value.
    case nothing
  }

  /// A key and its value in a mapping.
  struct Field: Equatable, Sendable {
    let name: String
    let value: Value
  }

  struct Entry: Equatable, Sendable {
    let key: ConfigurationKey
    let value: Value
    /// The line number; the first line is 1.
    let line: Int
  }

  let path: String
  /// The settings, in the order of the file.
  private(set) var entries: [Entry] = []

  /// Reads the file.
  /// - Throws: `DaemonConfiguration.Invalid` if the file cannot be read, is not YAML or has an unknown key.
  init(path: String) throws(DaemonConfiguration.Invalid) {
    self.path = path
    let root = try Self.root(path)
    // A file with only comments has no settings.
    guard let root, !Self.isNothing(root) else { return }
    guard let mapping = root.mapping else { throw fault("the top-level key \(Self.section): is missing", at: root) }
    for (name, value) in mapping {
      guard name.string == Self.section else {
        throw fault(
          "unknown key \(Self.shown(name)) at the top level; put the settings below \(Self.section):", at: name)
      }
      try readSection("", value)
    }
  }

  /// An error for an entry of this file.
  func fault(_ words: String, line: Int?) -> DaemonConfiguration.Invalid {
    let place = line.map { ", line \($0)" } ?? ""
    return DaemonConfiguration.Invalid(description: "cannot use the configuration \(path)\(place): \(words)")
  }

  /// - Parameter section: the prefix of the keys in the section: `""`, or the section's name and a dot.
  private mutating func readSection(_ section: String, _ node: Node) throws(DaemonConfiguration.Invalid) {
    if Self.isNothing(node) { return }
    let title = (section.isEmpty ? Self.section : String(section.dropLast())) + ":"
    guard let mapping = node.mapping else {
      throw fault("\(title) has no keys; put each key on a line of its own", at: node)
    }
    for (name, value) in mapping {
      let key = section + (name.string ?? "")
      if let known = ConfigurationKey.named(key) {
        let place = (name.mark ?? value.mark)?.line ?? 0
        entries.append(Entry(key: known, value: try self.value(value, of: known), line: place))
      } else if ConfigurationKey.all.contains(where: { $0.name.hasPrefix(key + ".") }) {
        try readSection(key + ".", value)
      } else {
        let known = ConfigurationKey.names(in: section).joined(separator: ", ")
        throw fault("unknown key \(Self.shown(name)) below \(title); the keys are \(known)", at: name)
      }
    }
  }

  private func value(_ node: Node, of key: ConfigurationKey) throws(DaemonConfiguration.Invalid) -> Value {
    if Self.isNothing(node) { return .nothing }
    if let scalar = node.scalar { return .scalar(scalar.string) }
    if let sequence = node.sequence {
      let items = sequence.compactMap(\.scalar?.string)
      if items.count == sequence.count { return .list(items) }
      var mappings: [[Field]] = []
      for item in sequence {
        if let fields = try fields(item, of: key) { mappings.append(fields) }
      }
      if mappings.count == sequence.count { return .mappings(mappings) }
    }
    throw fault("\(key.name) must be \(key.allowed)", at: node)
  }

  /// The fields of a mapping; `nil` if it is none.
  private func fields(_ node: Node, of key: ConfigurationKey) throws(DaemonConfiguration.Invalid) -> [Field]? {
    guard let mapping = node.mapping else { return nil }
    var fields: [Field] = []
    for (name, value) in mapping {
      let words = value.sequence.map { $0.compactMap(\.scalar?.string) }
      guard let text = name.string, value.scalar != nil || words != nil, words?.count == value.sequence?.count else {
        throw fault("\(key.name) must be \(key.allowed)", at: value)
      }
      let content = words.map(Value.list) ?? .scalar(value.scalar?.string ?? "")
      fields.append(Field(name: text, value: Self.isNothing(value) ? .nothing : content))
    }
    return fields
  }

  private func fault(_ words: String, at node: Node) -> DaemonConfiguration.Invalid {
    fault(words, line: node.mark?.line)
  }

  private static func root(_ path: String) throws(DaemonConfiguration.Invalid) -> Node? {
    var reason = access(path, R_OK) == 0 ? "it is not a readable file" : String(cString: strerror(errno))
    do {
      let text = try Data(contentsOf: URL(filePath: path))
      reason = "it is not YAML"
      return try Parser(yaml: text).singleRoot()
    } catch let error as YamlError {
      // Yams describes the position in several lines.
      reason += ": \(error.description.replacing("\n", with: " "))"
    } catch {}
    throw DaemonConfiguration.Invalid(description: "cannot read the configuration \(path): \(reason)")
  }

  private static func isNothing(_ node: Node) -> Bool { node.scalar != nil && node.null != nil }

  private static func shown(_ node: Node) -> String { "\"\(node.string ?? "…")\"" }
}
