import FoundationEssentials
import Glibc

/// The files that AWS's tools share: `~/.aws/credentials` and `~/.aws/config`
/// (docs.aws.amazon.com/cli/latest/userguide/cli-configure-files.html). Pure: text in, values out.
struct AWSProfiles: Sendable, Equatable {
  private var profiles: [String: [String: String]] = [:]

  /// A profile of both files together: what the credentials file says wins.
  init(credentials: String, config: String) {
    for (section, values) in Self.sections(config) {
      // In `config` all profiles but `default` carry the word before their name; other sections are not profiles.
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

  /// `[name]`, then `key = value` lines. `#` and `;` begin a comment at a line's start, and after a blank. Indented lines are
  /// nested settings of the key before them (`s3 =`), and none of ours.
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

/// The process's surroundings, as far as AWS's tools look at them.
struct AWSEnvironment: Sendable {
  var variables: [String: String]
  /// Reads a file; `nil` where there is none.
  var read: @Sendable (String) -> String?

  static var current: AWSEnvironment {
    AWSEnvironment(variables: ProcessInfo.processInfo.environment) { path in
      guard let data = try? Data(contentsOf: URL(filePath: path)), data.count <= 1 << 20 else { return nil }
      return String(decoding: data, as: UTF8.self)
    }
  }

  subscript(name: String) -> String? {
    guard let value = variables[name], !value.isEmpty else { return nil }
    return value
  }

  /// Cron may set no HOME; then the user database says.
  private var home: String {
    if let home = self["HOME"] { return home }
    guard let entry = getpwuid(getuid()), let directory = entry.pointee.pw_dir else { return "/" }
    return String(cString: directory)
  }

  var profiles: AWSProfiles {
    AWSProfiles(
      credentials: read(self["AWS_SHARED_CREDENTIALS_FILE"] ?? home + "/.aws/credentials") ?? "",
      config: read(self["AWS_CONFIG_FILE"] ?? home + "/.aws/config") ?? "")
  }
}
