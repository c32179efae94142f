/// Jobs that are claimed in advance wait for connections (``ClaimAhead``). How many their origins have.
extension JobQueue {
  /// Follows the widths of origins. A wider one takes no more slots than are free; the rest follows when some are.
  mutating func limitConnections(_ actions: inout [JobQueueAction]) {
    var unfinished: [String] = []
    for origin in widths.takeChanged() {
      let (now, wanted) = (load.connections[origin], connectionLimit(of: origin))
      var next = wanted
      if let now, let wanted, wanted > now {
        let free = max(0, limits.admission.maxActive - load.total)  // checked: counts transfers
        next = now + min(wanted - now, free)  // checked: counts transfers
        if next != wanted { unfinished.append(origin) }
      }
      guard next != now else { continue }
      load.connections[origin] = next
      actions.append(.limitConnections(origin, next))
    }
    widths.markChanged(unfinished)
  }

  /// `nil`: one for each claimed job, because none was claimed in advance.
  private func connectionLimit(of origin: String) -> Int? {
    guard let width = widths.connections(of: origin) else { return nil }
    let admission = limits.admission
    let limit =
      switch (admission.origins.rule(for: origin)?.maxActive, admission.maxPerOrigin) {
      case (let limit?, _), (nil, .fixed(let limit)): limit
      case (nil, .automatic): width
      }
    return min(limit, admission.maxActive)
  }
}
