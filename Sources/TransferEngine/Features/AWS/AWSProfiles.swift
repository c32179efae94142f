import FoundationEssentials
import Glibc
import WireValues

/// The files that AWS's tools share: `~/.aws/credentials` and `~/.aws/config`
/// (docs.aws.amazon.com/cli/latest/userguide/cli-configure-files.html). Pure: text in, values out.
struct AWSProfiles: Sendable, Equatable {
  private var profiles: [String: [String: String]] = [:]

  /// Combines both files; the credentials file has precedence.
  init(credentials: String, config: String) {
    for (section, values) in Self.sections(config) {
      // In `config` every profile except `default` has the word `profile` before its name; other sections are not
      // profiles.
      let name: String
      if section == "default" {
        name = section
      } else if section.hasPrefix("profile") {
        name = String(section.dropFirst("profile".count).trimmingBlanks())
      } else {
        continue
      }
      profiles[name, default: [:]].merge(values) { _, new in new }
    }
    for (section, values) in Self.sections(credentials) {
      profiles[section, default: [:]].merge(values) { _, new in new }
    }
  }

  subscript(name: String) -> [String: String]? { profiles[name] }

  /// `[name]`, then `key = value` lines. `#` and `;` begin a comment at the start of a line and after a blank. Indented
  /// lines are nested settings of the key above them (`s3 =`), which are not used.
  private static func sections(_ text: String) -> [(String, [String: String])] {
    var sections: [(String, [String: String])] = []
    for line in text.split(whereSeparator: \.isNewline) {
      guard let first = line.first, first != "#", first != ";", first != " ", first != "\t" else { continue }
      if first == "[" {
        let name = line.dropFirst().prefix { $0 != "]" }
        sections.append((String(name.trimmingBlanks()), [:]))
        continue
      }
      guard !sections.isEmpty, let equals = line.firstIndex(of: "=") else { continue }
      let key = line[..<equals].trimmingBlanks().lowercased()
      let value = withoutComment(line[line.index(after: equals)...])
      if !key.isEmpty { sections[sections.count - 1].1[key] = value }
    }
    return sections
  }

  private static func withoutComment(_ value: Substring) -> String {
    var value = value
    for mark in [" #", " ;", "\t#", "\t;"] {
      if let range = value.firstRange(of: mark) { value = value[..<range.lowerBound] }
    }
    return String(value.trimmingBlanks())
  }
}
