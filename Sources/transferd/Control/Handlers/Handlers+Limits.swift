import TransferAPI

extension Handlers {
  static let showLimits: RouteTable.Handler = { _, daemon in
    try Reply.json(await daemon.limits.current)
  }

  static let changeLimits: RouteTable.Handler = { request, daemon in
    let change = try await request.body(DaemonLimitChange.self)
    let range = Admission.range
    let counts: [(name: String, count: Int?)] = [
      ("maxActive", change.maxActive), ("maxPerOrigin", change.maxPerOrigin ?? nil),
    ]
    for (name, count) in counts {
      guard let count, !range.contains(count) else { continue }
      throw Problem(
        .invalid, text: "\(field: name) must be from \(range.lowerBound) to \(range.upperBound)")
    }
    return try Reply.json(try await daemon.limits.change(change))
  }
}
