import FoundationEssentials
import Glibc
import Logging

/// Writes log messages to standard error, one line each: with the time, or for the journal with a priority (sd-daemon(3)).
struct StandardErrorLog: LogHandler {
  var logLevel: Logger.Level = .info
  var metadata: Logger.Metadata = [:]
  private let isJournal: Bool

  /// - Parameter isJournal: whether systemd reads the lines (`$JOURNAL_STREAM` is set); it adds the time itself.
  init(isJournal: Bool) { self.isJournal = isJournal }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    var line = isJournal ? "<\(Self.priority(event.level))>" : "\(Date().formatted(.iso8601)) \(event.level) "
    line += "\(event.message)"
    let all = metadata.merging(event.metadata ?? [:]) { _, new in new }
    for (key, value) in all.sorted(by: { $0.key < $1.key }) { line += " \(key)=\(Self.quoted("\(value)"))" }
    StandardError.write(Self.escaped(line) + "\n")
  }

  private static func quoted(_ text: String) -> String { text.contains(" ") ? "\"\(text)\"" : text }

  /// Escapes control characters, which text from servers and users may contain, so that each message is one line.
  private static func escaped(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) else { return text }
    var result = ""
    for scalar in text.unicodeScalars {
      if scalar.value < 0x20 || scalar.value == 0x7F {
        result += "\\u{\(String(scalar.value, radix: 16))}"
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// The priority as in syslog(3).
  private static func priority(_ level: Logger.Level) -> Int {
    switch level {
    case .critical: 2
    case .error: 3
    case .warning: 4
    case .notice: 5
    case .info: 6
    case .debug, .trace: 7
    }
  }
}
