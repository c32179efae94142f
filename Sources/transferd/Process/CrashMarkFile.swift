import CLinux
import Glibc

/// A run of the daemon that ended by a fatal signal which it raised itself: a trap, a bad address, abort(3).
struct CrashMark: Equatable, Sendable {
  /// 16 hexadecimal digits, made when that run started.
  let run: String
  let signal: Int32

  /// - Parameter text: what `linux_crash_mark_write` writes. `nil` for anything else, blanks included.
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

/// `transferd.crash` in the state directory, in which a run that crashes leaves a mark for the next one.
///
/// It is opened at the start and keeps its room on the disk, so that the signal handler has nothing to do but to write and to
/// sync 64 bytes (signal-safety(7)).
final class CrashMarkFile: Sendable {
  /// What the run before left; `nil` where it ended in another way.
  let previous: CrashMark?
  private let descriptor: Int32
  private let path: String

  struct Failed: Error, CustomStringConvertible {
    let description: String
  }

  /// - Throws: where the file cannot be opened, or has no room.
  init(directory: String) throws {
    path = directory + "/transferd.crash"
    descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw Self.failure("open", path) }
    var bytes = [UInt8](repeating: 0, count: Int(LINUX_CRASH_MARK_SIZE))
    let count = pread(descriptor, &bytes, bytes.count, 0)
    guard count >= 0 else {
      close(descriptor)
      throw Self.failure("read", path)
    }
    previous = CrashMark(bytes[..<count])
    guard count < bytes.count, previous == nil else { return }
    guard linux_crash_mark_clear(descriptor) == 0 else {
      let failure = Self.failure("write", path)
      close(descriptor)
      throw failure
    }
  }

  /// From now on a crash of this process leaves a mark. The handler needs the file until the process ends.
  func arm() throws {
    let run = String(UInt64.random(in: 0 ... .max), radix: 16)
    let digits = String(repeating: "0", count: Int(LINUX_CRASH_RUN_SIZE) - run.utf8.count) + run
    guard linux_crash_mark_arm(descriptor, digits) == 0 else {
      throw Failed(description: "cannot watch for fatal signals: \(String(cString: strerror(errno)))")
    }
    _ = Unmanaged.passRetained(self)
  }

  /// The mark was counted, and that is durable.
  func clear() throws {
    guard previous != nil else { return }
    guard linux_crash_mark_clear(descriptor) == 0 else { throw Self.failure("write", path) }
  }

  deinit { close(descriptor) }

  private static func failure(_ verb: String, _ path: String) -> Failed {
    Failed(description: "cannot \(verb) \(path): \(String(cString: strerror(errno)))")
  }
}
