/// Jobs that are claimed in advance wait for connections (``ClaimAhead``). How many their origins have.
extension JobQueue {
  /// Follows the widths of origins. A wider one takes no more slots than are free; the rest follows when some are. After a
  /// narrower one the transfers that run go on, so each of their ends takes one connection away.
  mutating func limitConnections(_ actions: inout [JobQueueAction]) {
    var unfinished: [String] = []
    for origin in widths.takeChanged() {
      var limit = connectionLimit(of: origin)
      if let wanted = limit {
        let used = load.connections[origin] ?? max(wanted, load.perOrigin[origin, default: 0])
        let free = max(0, limits.admission.maxActive - load.total)  // checked: counts transfers
        let next = wanted > used ? used + min(wanted - used, free) : wanted  // checked: counts transfers
        if next != wanted { unfinished.append(origin) }
        load.connections[origin] = max(used, next)
        limit = next
      } else {
        load.connections[origin] = nil
      }
      guard limit != load.connectionLimits[origin] else { continue }
      load.connectionLimits[origin] = limit
      actions.append(.limitConnections(origin, limit))
    }
    widths.markChanged(unfinished)
  }

  /// A transfer has ended. One that was stopped may have waited for a connection.
  mutating func removeLoad(of attempt: Attempt) {
    let origin = attempt.origin
    load.remove(origin, attempt.batch)
    guard attempt.stop == nil, let used = load.connections[origin], let limit = load.connectionLimits[origin],
      used > limit
    else { return }
    load.connections[origin] = used - 1  // checked: more than the limit
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
