import TransferAPI

extension DetailText {
  /// The limits of the daemon, each with where it comes from.
  static func lines(_ limits: DaemonLimits) -> [String] {
    func rate(_ rate: Int64?) -> String { rate.map(HumanNumbers.rate) ?? "off" }
    let rows = [
      ("down", rate(limits.down), limits.from.down, limits.downUntil),
      ("up", rate(limits.up), limits.from.up, limits.upUntil),
      ("max active", String(limits.maxActive), limits.from.maxActive, nil),
      ("max per origin", limits.maxPerOrigin.map(String.init) ?? "auto", limits.from.maxPerOrigin, nil),
    ]
    return aligned(
      rows.map { name, value, source, until in
        let end = until.map { ", until \(WireCoding.rfc3339($0))" } ?? ""
        return (name, "\(value) (\(words(source))\(end))")
      })
  }

  private static func words(_ source: DaemonLimits.Source) -> String {
    switch source {
    case .limit: "set by transferctl limit"
    case .configuration: "configuration"
    case .timetable: "timetable"
    case .default: "default"
    }
  }
}
