/// Options of every command may also precede the command, as with systemctl and kubectl:
/// `transferctl --socket PATH status`.
enum LeadingOptions {
  static let names = ["--socket", "--no-autostart"]

  /// Moves them behind the command's arguments, where the parser expects them.
  static func moved(_ arguments: [String]) -> [String] {
    var leading: [String] = []
    var rest = arguments[...]
    while let word = rest.first {
      if word == "--no-autostart" || word.hasPrefix("--socket=") {
        leading.append(rest.removeFirst())
      } else if word == "--socket", rest.count > 1 {
        leading += rest.prefix(2)
        rest.removeFirst(2)
      } else {
        break
      }
    }
    // Without a command the parser reports the error.
    guard !leading.isEmpty, let command = rest.first, !command.hasPrefix("-") else { return arguments }
    let end = rest.firstIndex(of: "--") ?? rest.endIndex
    return rest[..<end] + leading + rest[end...]
  }
}
