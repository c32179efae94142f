import Glibc
import Synchronization

/// Handles Ctrl-C: prints that the jobs continue and exits with status 130.
///
/// Nothing needs cleaning up, so the handler does everything with calls that signal-safety(7) allows. Work that needs
/// cleaning up runs in `whileDeferred`.
enum Interrupt {
  private static let isDeferred = Atomic<Bool>(false)
  private static let wasAsked = Atomic<Bool>(false)

  static func install() {
    guard !isIgnored(SIGINT) else { return }
    // Initialise the globals here: a signal handler must not do it.
    _ = (isDeferred.load(ordering: .relaxed), wasAsked.load(ordering: .relaxed))
    signal(SIGINT) { _ in
      if Interrupt.isDeferred.load(ordering: .relaxed), !Interrupt.wasAsked.exchange(true, ordering: .relaxed) {
        return
      }
      let words: StaticString = "\ninterrupted; the jobs continue\n"
      let skip = isatty(STDERR_FILENO) == 1 ? 0 : 1
      _ = write(STDERR_FILENO, words.utf8Start + skip, words.utf8CodeUnitCount - skip)
      _exit(130)
    }
  }

  /// Runs `work`. The first Ctrl-C meanwhile makes `check()` throw; the second one ends the program.
  static func whileDeferred<Value>(_ work: () async throws -> Value) async throws -> Value {
    isDeferred.store(true, ordering: .relaxed)
    defer { isDeferred.store(false, ordering: .relaxed) }
    let value = try await work()
    try check()
    return value
  }

  /// Runs `work`. The first Ctrl-C meanwhile only sets `isRequested`; the second one ends the program.
  /// - Returns: whether Ctrl-C was pressed.
  nonisolated(nonsending) static func deferred(_ work: () async throws -> Void) async throws -> Bool {
    isDeferred.store(true, ordering: .relaxed)
    defer { isDeferred.store(false, ordering: .relaxed) }
    try await work()
    return isRequested
  }

  /// Whether Ctrl-C was pressed while it was deferred.
  static var isRequested: Bool { wasAsked.load(ordering: .relaxed) }

  /// - Throws: `CancellationError` after a deferred Ctrl-C.
  static func check() throws {
    if wasAsked.load(ordering: .relaxed) { throw CancellationError() }
  }

  /// Whether the signal is ignored, as a shell arranges for background commands; it must stay ignored.
  private static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    guard sigaction(number, nil, &action) == 0 else { return false }
    return action.__sigaction_handler.sa_handler.map { unsafeBitCast($0, to: Int.self) } == 1
  }
}
