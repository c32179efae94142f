import TransferAPI

extension Handlers {
  static let showLimits: RouteTable.Handler = { _, daemon in
    try Reply.json(await daemon.limits.current)
  }

  static let changeLimits: RouteTable.Handler = { request, daemon in
    let change = try await request.body(DaemonLimitChange.self)
    let range = Admission.range
    for count in [change.maxActive, change.maxPerOrigin ?? nil] {
      guard let count, !range.contains(count) else { continue }
      throw Problem(
        .invalid, "maxActive and maxPerOrigin must be from \(range.lowerBound) to \(range.upperBound)")
    }
    return try Reply.json(try await daemon.limits.change(change))
  }
}
