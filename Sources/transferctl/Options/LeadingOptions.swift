/// Options that belong to every command may stand before it, too: `transferctl --socket PATH status`, as with systemctl
/// and kubectl.
enum LeadingOptions {
  /// Moves them behind the command's own arguments, where the parser knows them. Pure.
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
    // Without a command there is nothing that they could belong to: the parser says so.
    guard !leading.isEmpty, let command = rest.first, !command.hasPrefix("-") else { return arguments }
    let end = rest.firstIndex(of: "--") ?? rest.endIndex
    return rest[..<end] + leading + rest[end...]
  }
}
