import Synchronization
import TransferAPI

/// Shows a tracker's progress on standard error: bars on a terminal, else a plain line at intervals.
final class ProgressDisplay: Sendable {
  private struct State {
    /// The lines on the screen, which the next ones overwrite.
    var drawn: [String] = []
    var lastLine: ContinuousClock.Instant
    var lastSummary = ""
    var announced: Set<JobID> = []
  }

  private let terminal: Terminal
  private let paint: Paint
  private let interval: Duration
  private let write: @Sendable (String) -> Void
  private let state: Mutex<State>

  init(
    _ terminal: Terminal, interval: Duration = .seconds(10), write: @escaping @Sendable (String) -> Void
  ) {
    self.terminal = terminal
    self.paint = Paint(terminal)
    self.interval = interval
    self.write = write
    state = Mutex(State(lastLine: ContinuousClock.now))
  }

  static func standardError() -> ProgressDisplay { ProgressDisplay(.error, write: Notice.raw) }

  var isInteractive: Bool { terminal.isInteractive }

  /// Updates the display. Call it at most 4 times a second.
  func tick(_ tracker: JobTracker) {
    guard !tracker.isSettled else { return }
    let size = terminal.size
    show(ProgressLine.summary(of: tracker)) {
      ProgressLine.lines(of: tracker, columns: size.columns, rows: size.rows, paint)
    }
  }

  /// The same for sums, which have one line.
  func tick(_ sums: JobSums) {
    guard sums.hasBegun, !sums.latest.isSettled else { return }
    let summary = ProgressLine.summary(of: sums.latest)
    show(summary) { [summary.fitted(to: terminal.size.columns - 1)] }  // checked: a terminal has columns
  }

  /// - Parameter lines: what to draw on a terminal.
  private func show(_ summary: String, lines: () -> [String]) {
    if terminal.isInteractive { return draw(lines()) }
    let isDue = state.withLock { state in
      guard ContinuousClock.now - state.lastLine >= interval else { return false }
      state.lastLine = .now
      // A wait for a paused job may last all night: do not repeat the same line.
      defer { state.lastSummary = summary }
      return state.lastSummary != summary
    }
    if isDue { write(summary.printable + "\n") }
  }

  /// Prints that a job has ended. On a terminal, failures are printed at the end, below the bars.
  func announce(_ id: JobID, _ entry: JobTracker.Entry) {
    guard !terminal.isInteractive else { return }
    // What is repeated at the end unless it was printed: failures, and files that could not be deleted or moved.
    if entry.state != .completed || entry.action?.state == .failed { state.withLock { _ = $0.announced.insert(id) } }
    write(JobTracker.words(id, entry).printable + "\n")
  }

  /// Prints how a job has ended. On a terminal it is printed at the end, below the bars.
  func announce(_ words: String) {
    if !terminal.isInteractive { write(words.printable + "\n") }
  }

  func hasAnnounced(_ id: JobID) -> Bool { state.withLock { $0.announced.contains(id) } }

  /// Removes the bars.
  func clear() {
    let erase = state.withLock { state in
      defer { state.drawn = [] }
      return Self.erase(state.drawn.count)
    }
    if !erase.isEmpty { write(erase) }
  }

  private func draw(_ lines: [String]) {
    let erase: String? = state.withLock { state in
      guard state.drawn != lines else { return nil }
      defer { state.drawn = lines }
      return Self.erase(state.drawn.count)
    }
    if let erase { write(erase + lines.map { $0 + "\n" }.joined()) }
  }

  /// The sequences that move to the first of `lines` and erase everything below. ECMA-48: CPL, ED
  private static func erase(_ lines: Int) -> String { lines > 0 ? "\u{1b}[\(lines)F\u{1b}[J" : "" }
}
