@preconcurrency import Rainbow
import TransferAPI

/// Colours for one stream: on where it is a terminal and NO_COLOR is not set.
struct Paint: Sendable {
  let isOn: Bool

  init(isOn: Bool) {
    self.isOn = isOn
    guard isOn else { return }
    // Rainbow looks at standard output only; progress goes to standard error.
    Rainbow.enabled = true
    Rainbow.outputTarget = .console
  }

  init(_ terminal: Terminal) { self.init(isOn: terminal.allowsColor) }

  func state(_ state: JobState, _ text: String) -> String {
    guard isOn else { return text }
    return switch state {
    case .queued: text
    case .running: text.cyan
    case .retrying: text.yellow
    case .paused: text.blue
    case .completed: text.green
    case .failed: text.red
    case .cancelled: text.magenta
    }
  }

  func header(_ text: String) -> String { isOn ? text.bold : text }
}
