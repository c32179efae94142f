import Glibc

/// Ctrl-C: say that the jobs go on, exit 130. Nothing needs cleaning up, so the handler does it all, with calls
/// that signal-safety(7) allows.
enum Interrupt {
  static func install() {
    guard !isIgnored(SIGINT) else { return }
    signal(SIGINT) { _ in
      let words: StaticString = "\ninterrupted; the jobs go on\n"
      let skip = isatty(STDERR_FILENO) == 1 ? 0 : 1
      _ = write(STDERR_FILENO, words.utf8Start + skip, words.utf8CodeUnitCount - skip)
      _exit(130)
    }
  }

  /// A shell starts background commands with the signal ignored, and means it.
  private static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    guard sigaction(number, nil, &action) == 0 else { return false }
    return action.__sigaction_handler.sa_handler.map { unsafeBitCast($0, to: Int.self) } == 1
  }
}
