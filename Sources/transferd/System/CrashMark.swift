import CLinux
import Glibc

/// A run of the daemon that ended by a fatal signal which it raised itself: a trap, an invalid address or abort(3).
struct CrashMark: Equatable, Sendable {
  /// Identifies the run: 16 random hexadecimal digits.
  let run: String
  let signal: Int32

  /// Parses the text that `linux_crash_mark_write` writes. Any other text, such as blanks, gives `nil`.
  init?(_ text: some Sequence<UInt8>) {
    let words = String(decoding: Array(text), as: UTF8.self).split(whereSeparator: \.isWhitespace)
    guard words.count == 5, words[0] == "transferd", words[1] == "crash", words[3] == "signal",
      words[2].utf8.count == Int(LINUX_CRASH_RUN_SIZE), words[2].allSatisfy(\.isHexDigit),
      words[4].utf8.count == 2,
      let signal = Int32(words[4]), signal > 0
    else { return nil }
    run = String(words[2])
    self.signal = signal
  }

  var signalName: String {
    switch signal {
    case SIGILL: "SIGILL"
    case SIGTRAP: "SIGTRAP"
    case SIGABRT: "SIGABRT"
    case SIGBUS: "SIGBUS"
    case SIGFPE: "SIGFPE"
    case SIGSEGV: "SIGSEGV"
    default: "signal \(signal)"
    }
  }
}
