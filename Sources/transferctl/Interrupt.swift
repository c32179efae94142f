import Glibc
import Synchronization

/// Ctrl-C: say that the jobs go on, exit 130. Nothing needs cleaning up, so the handler does it all, with calls
/// that signal-safety(7) allows. Where something does, it is asked for: `whileDeferred`.
enum Interrupt {
  private static let isDeferred = Atomic<Bool>(false)
  private static let wasAsked = Atomic<Bool>(false)

  static func install() {
    guard !isIgnored(SIGINT) else { return }
    // Made now, and not for the first time in a handler.
    _ = (isDeferred.load(ordering: .relaxed), wasAsked.load(ordering: .relaxed))
    signal(SIGINT) { _ in
      if Interrupt.isDeferred.load(ordering: .relaxed), !Interrupt.wasAsked.exchange(true, ordering: .relaxed) {
        return
      }
      let words: StaticString = "\ninterrupted; the jobs go on\n"
      let skip = isatty(STDERR_FILENO) == 1 ? 0 : 1
      _ = write(STDERR_FILENO, words.utf8Start + skip, words.utf8CodeUnitCount - skip)
      _exit(130)
    }
  }

  /// The first Ctrl-C meanwhile only counts, and `check()` tells of it; the second one ends the program.
  static func whileDeferred<Value>(_ work: () async throws -> Value) async throws -> Value {
    isDeferred.store(true, ordering: .relaxed)
    defer { isDeferred.store(false, ordering: .relaxed) }
    let value = try await work()
    try check()
    return value
  }

  /// - Throws: `CancellationError` after a Ctrl-C that was deferred.
  static func check() throws {
    if wasAsked.load(ordering: .relaxed) { throw CancellationError() }
  }

  /// A shell starts background commands with the signal ignored, and means it.
  private static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    guard sigaction(number, nil, &action) == 0 else { return false }
    return action.__sigaction_handler.sa_handler.map { unsafeBitCast($0, to: Int.self) } == 1
  }
}
