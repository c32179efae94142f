import TransferAPI

/// The sources of a download, for `show`.
extension DetailText {
  static func sources(_ sources: [JobSource]) -> [String] {
    guard !sources.isEmpty else { return [] }
    var table = Table([
      .init(title: "SOURCE"), .init(title: "STATE"), .init(title: "RECEIVED", alignment: .right),
      .init(title: "RATE", alignment: .right), .init(title: "REASON"),
    ])
    let rows = sources.map { source in
      [
        source.url, source.state.rawValue, HumanNumbers.size(source.bytesReceived),
        source.bytesPerSecond > 0 ? HumanNumbers.rate(source.bytesPerSecond) : "-", source.reason ?? "-",
      ]
    }
    return [""] + table.lines(rows)
  }
}
