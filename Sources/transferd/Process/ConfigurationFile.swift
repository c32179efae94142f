import FoundationEssentials
import Glibc
import Yams

/// What a YAML file sets, key by key. What stands there and is no setting is an error: a misspelt key must not look set.
struct ConfigurationFile: Equatable, Sendable {
  /// The section that all settings are in.
  static let section = "transferd"

  enum Value: Equatable, Sendable {
    case scalar(String)
    case list([String])
    /// The key with nothing behind it.
    case nothing
  }

  struct Entry: Equatable, Sendable {
    let key: ConfigurationKey
    let value: Value
    /// From 1.
    let line: Int
  }

  let path: String
  /// In the order of the file.
  private(set) var entries: [Entry] = []

  /// - Throws: `DaemonConfiguration.Invalid` for a file that cannot be read, is no YAML, or has a key that is not known.
  init(path: String) throws(DaemonConfiguration.Invalid) {
    self.path = path
    let root = try Self.root(path)
    // A file whose lines are all comments sets nothing.
    guard let root, !Self.isNothing(root) else { return }
    guard let mapping = root.mapping else { throw fault("it must begin with \(Self.section):", at: root) }
    for (name, value) in mapping {
      guard name.string == Self.section else {
        throw fault(
          "there is no key \(Self.shown(name)) at the top; the settings stand below \(Self.section):", at: name)
      }
      try readSection("", value)
    }
  }

  /// For what is wrong with an entry.
  func fault(_ words: String, line: Int?) -> DaemonConfiguration.Invalid {
    let place = line.map { ", line \($0)" } ?? ""
    return DaemonConfiguration.Invalid(description: "cannot use the configuration \(path)\(place): \(words)")
  }

  /// - Parameter section: what the names of its keys begin with: `""`, or the section's name and a point.
  private mutating func readSection(_ section: String, _ node: Node) throws(DaemonConfiguration.Invalid) {
    if Self.isNothing(node) { return }
    let title = (section.isEmpty ? Self.section : String(section.dropLast())) + ":"
    guard let mapping = node.mapping else {
      throw fault("the keys of \(title) are missing; each stands on a line of its own", at: node)
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
        throw fault("there is no key \(Self.shown(name)) below \(title); the keys are \(known)", at: name)
      }
    }
  }

  private func value(_ node: Node, of key: ConfigurationKey) throws(DaemonConfiguration.Invalid) -> Value {
    if Self.isNothing(node) { return .nothing }
    if let scalar = node.scalar { return .scalar(scalar.string) }
    if let sequence = node.sequence {
      let items = sequence.compactMap(\.scalar?.string)
      if items.count == sequence.count { return .list(items) }
    }
    throw fault("\(key.name) must be \(key.allowed)", at: node)
  }

  private func fault(_ words: String, at node: Node) -> DaemonConfiguration.Invalid {
    fault(words, line: node.mark?.line)
  }

  private static func root(_ path: String) throws(DaemonConfiguration.Invalid) -> Node? {
    var reason = access(path, R_OK) == 0 ? "it is not a file that can be read" : String(cString: strerror(errno))
    do {
      let text = try Data(contentsOf: URL(filePath: path))
      reason = "it is not YAML"
      return try Parser(yaml: text).singleRoot()
    } catch let error as YamlError {
      // Yams draws the place over several lines.
      reason += ": \(error.description.replacing("\n", with: " "))"
    } catch {}
    throw DaemonConfiguration.Invalid(description: "cannot read the configuration \(path): \(reason)")
  }

  private static func isNothing(_ node: Node) -> Bool { node.scalar != nil && node.null != nil }

  private static func shown(_ node: Node) -> String { "\"\(node.string ?? "…")\"" }
}
