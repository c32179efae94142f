import FoundationEssentials
import Glibc

/// The terminal of a descriptor, if it is one.
struct Terminal: Sendable {
  let descriptor: Int32
  /// Whether it is a terminal whose cursor can be moved.
  let isInteractive: Bool
  let allowsColor: Bool

  static let output = Terminal(STDOUT_FILENO)
  static let error = Terminal(STDERR_FILENO)

  init(_ descriptor: Int32, environment: [String: String] = ProcessInfo.processInfo.environment) {
    self.descriptor = descriptor
    let kind = environment["TERM"] ?? ""
    isInteractive = isatty(descriptor) == 1 && kind != "" && kind != "dumb"
    // https://no-color.org: present and not empty.
    allowsColor = isInteractive && (environment["NO_COLOR"] ?? "").isEmpty
  }

  /// The current size, read at each drawing, so that no signal for a changed window is needed. 80×24 if unknown.
  var size: (columns: Int, rows: Int) {
    var window = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &window) == 0, window.ws_col > 0 else { return (80, 24) }
    return (Int(window.ws_col), window.ws_row > 0 ? Int(window.ws_row) : 24)
  }
}
