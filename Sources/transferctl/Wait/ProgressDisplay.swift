import Synchronization
import TransferAPI

/// Shows a board on standard error: bars that move on a terminal, else a plain line now and then.
final class ProgressDisplay: Sendable {
  private struct State {
    /// Lines of bars that are on the screen, to be drawn over.
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

  /// To be called at most 4 times a second.
  func tick(_ board: JobBoard) {
    guard !board.isSettled else { return }
    if terminal.isInteractive { return draw(board) }
    let summary = ProgressLine.summary(of: board)
    let isDue = state.withLock { state in
      guard ContinuousClock.now - state.lastLine >= interval else { return false }
      state.lastLine = .now
      // A paused job may be waited for all night: say it once.
      defer { state.lastSummary = summary }
      return state.lastSummary != summary
    }
    if isDue { write(summary.printable + "\n") }
  }

  /// A job came to its end. On a terminal the failed ones are told at the end, below the bars.
  func announce(_ id: JobID, _ entry: JobBoard.Entry, _ board: JobBoard) {
    guard !terminal.isInteractive else { return }
    if entry.state != .completed { state.withLock { _ = $0.announced.insert(id) } }
    write(JobBoard.words(id, entry).printable + "\n")
  }

  func hasAnnounced(_ id: JobID) -> Bool { state.withLock { $0.announced.contains(id) } }

  /// Takes the bars away.
  func clear() {
    let erase = state.withLock { state in
      defer { state.drawn = [] }
      return Self.erase(state.drawn.count)
    }
    if !erase.isEmpty { write(erase) }
  }

  private func draw(_ board: JobBoard) {
    let size = terminal.size
    let lines = ProgressLine.lines(of: board, columns: size.columns, rows: size.rows, paint)
    let erase: String? = state.withLock { state in
      guard state.drawn != lines else { return nil }
      defer { state.drawn = lines }
      return Self.erase(state.drawn.count)
    }
    if let erase { write(erase + lines.map { $0 + "\n" }.joined()) }
  }

  /// Up to the first line drawn, and everything below it away. ECMA-48: CPL, ED
  private static func erase(_ lines: Int) -> String { lines > 0 ? "\u{1b}[\(lines)F\u{1b}[J" : "" }
}
