import Synchronization
import TransferAPI

/// The newest events of all jobs, each encoded once for all its readers.
final class RecentEvents: Sendable {
  private struct Entry {
    let event: Event
    var text: [UInt8]?
  }

  private struct State {
    /// Ordered by number.
    var entries: [Entry] = []
    /// Every event above this number is among the entries; `nil`: no event is known.
    var floor: Int64?
  }

  /// At least this many of the newest events are kept.
  private let capacity: Int
  private let state = Mutex(State())

  init(capacity: Int = 4096) { self.capacity = capacity }

  /// - Parameter events: those of one commit, in their order. Commits come in their order, too.
  func append(_ events: [Event]) {
    guard let first = events.first else { return }
    state.withLock { state in
      if state.floor == nil { state.floor = first.seq - 1 }  // checked: numbers of events begin with 1
      state.entries.append(contentsOf: events.map { Entry(event: $0) })
      guard state.entries.count > 2 * capacity else { return }
      let count = state.entries.count - capacity  // checked: the count is above the capacity
      state.floor = state.entries[count - 1].event.seq  // checked: count is above 0
      state.entries.removeFirst(count)
    }
  }

  func removeAll() { state.withLock { $0 = State() } }

  /// The first events above a number; `nil` if they are not all known, and have to be read from the store.
  func events(after number: Int64, limit: Int) -> [Event]? {
    state.withLock { state in
      guard let floor = state.floor, number >= floor else { return nil }
      let first = Self.index(after: number, in: state.entries)
      return state.entries[first...].prefix(limit).map(\.event)
    }
  }

  /// The encoded event, which is kept after the first call as long as the event is.
  func text(of event: Event, encode: (Event) throws -> [UInt8]) rethrows -> [UInt8] {
    func entry(_ state: State) -> Int? {
      let index = Self.index(after: event.seq - 1, in: state.entries)  // checked: numbers of events begin with 1
      return index < state.entries.count && state.entries[index].event == event ? index : nil
    }
    let known = state.withLock { state in entry(state).flatMap { state.entries[$0].text } }
    if let known { return known }
    let text = try encode(event)
    state.withLock { state in
      if let index = entry(state) { state.entries[index].text = text }
    }
    return text
  }

  /// The index of the first entry above a number.
  private static func index(after number: Int64, in entries: [Entry]) -> Int {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = low + (high - low) / 2  // checked: between two indices
      if entries[middle].event.seq > number { high = middle } else { low = middle + 1 }  // checked: at most high
    }
    return low
  }
}
