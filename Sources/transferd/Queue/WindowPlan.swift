import FoundationEssentials
import Store
import TransferAPI

/// Which windows are closed at a time, and when the next one opens or closes. Pure: the local time is passed in.
struct WindowPlan: Equatable, Sendable {
  /// The closed ones, each with the time at which it opens.
  private(set) var closed: ClosedWindows = [:]
  private(set) var open: [DailyWindow] = []
  /// When one of them opens or closes; `nil`: no time of the next two days.
  private(set) var next: Date?

  /// Minutes that are examined: two days, so that a window is found also if its minutes are left out when the clocks are set
  /// for summer time.
  private static let horizon = 2 * 24 * 60

  /// Looks at each minute, so that no rule of a time zone has to be known.
  init(_ windows: some Collection<DailyWindow>, at now: Date, _ local: (Date) -> RateTimetable.LocalTime) {
    guard !windows.isEmpty else { return }
    let start = (now.timeIntervalSince1970 / 60).rounded(.down) * 60
    // checked: two days at most
    let time = { (offset: Int) in Date(timeIntervalSince1970: start + Double(offset * 60)) }
    // The minute of the day at each minute from now on, as far as it is needed.
    var minutes = [local(now).minute]
    for window in windows {
      let isOpen = window.contains(minute: minutes[0])
      var change: Date?
      for offset in 1...Self.horizon {
        if offset == minutes.count { minutes.append(local(time(offset)).minute) }
        guard window.contains(minute: minutes[offset]) != isOpen else { continue }
        change = time(offset)
        break
      }
      if let change { next = min(next ?? change, change) }
      if isOpen { open.append(window) } else { closed[window] = change ?? time(Self.horizon) }
    }
  }
}
