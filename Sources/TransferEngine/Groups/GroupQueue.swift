/// The requests of a group that wait for a connection: first in, first out for each origin, and the origins in turn. Pure.
struct GroupQueue<Element> {
  private struct Lane {
    var active = 0
    var waiting: [Element] = []
    /// The index of the first element that still waits.
    var first = 0
    /// Whether the origin is in `ready`.
    var isReady = false
  }

  /// Elements at once from one origin, unless it has a limit of its own.
  let limit: Int
  /// The limits of origins that have their own.
  private var limits: [String: Int] = [:]
  private var lanes: [String: Lane] = [:]
  /// Origins with a waiting element and a free connection.
  private var ready: [String] = []
  /// The elements that wait.
  private(set) var waitingCount = 0
  /// The elements that run.
  private(set) var activeCount = 0

  init(limit: Int) { self.limit = limit }

  mutating func append(_ element: Element, origin: String) {
    lanes[origin, default: Lane()].waiting.append(element)
    waitingCount += 1
    makeReady(origin)
  }

  /// Takes the next element that may run. It is active until `end(origin:)`.
  mutating func next() -> Element? {
    guard let origin = ready.popLast(), var lane = lanes.removeValue(forKey: origin) else { return nil }
    lane.isReady = false
    let element = lane.waiting[lane.first]
    lane.first += 1  // checked: an index of `waiting`
    if lane.first == lane.waiting.count {
      lane.waiting.removeAll(keepingCapacity: true)
      lane.first = 0
    }
    lane.active += 1
    waitingCount -= 1
    activeCount += 1
    lanes[origin] = lane
    makeReady(origin)
    return element
  }

  /// Sets the limit of one origin; `nil`: the queue's.
  mutating func setLimit(_ limit: Int?, origin: String) {
    limits[origin] = limit
    makeReady(origin)
  }

  /// One active element of the origin has ended.
  mutating func end(origin: String) {
    guard var lane = lanes.removeValue(forKey: origin) else { return }
    lane.active -= 1
    activeCount -= 1
    // An origin without work is forgotten, so that a long-lived group does not grow.
    guard lane.active > 0 || !lane.waiting.isEmpty else { return }
    lanes[origin] = lane
    makeReady(origin)
  }

  /// The origin goes behind the others that are ready.
  private mutating func makeReady(_ origin: String) {
    guard var lane = lanes[origin], !lane.isReady, !lane.waiting.isEmpty,
      lane.active < limits[origin] ?? limit
    else { return }
    lane.isReady = true
    lanes[origin] = lane
    ready.insert(origin, at: 0)
  }
}
