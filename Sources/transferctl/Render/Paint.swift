import TransferAPI

/// Colours for the text of one stream: SGR sequences (ECMA-48 §8.3.117) when `isOn`, plain text otherwise.
struct Paint: Sendable {
  let isOn: Bool

  init(isOn: Bool) { self.isOn = isOn }

  init(_ terminal: Terminal) { self.init(isOn: terminal.allowsColor) }

  func state(_ state: JobState, _ text: String) -> String {
    switch state {
    case .queued: text
    case .running: styled(text, .cyan)
    case .retrying: styled(text, .yellow)
    case .paused: styled(text, .blue)
    case .completed: styled(text, .green)
    case .failed: styled(text, .red)
    case .cancelled: styled(text, .magenta)
    }
  }

  func header(_ text: String) -> String { styled(text, .bold) }

  private enum Style: Int {
    case bold = 1
    case red = 31
    case green, yellow, blue, magenta, cyan
  }

  private func styled(_ text: String, _ style: Style) -> String {
    isOn && !text.isEmpty ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
  }
}
