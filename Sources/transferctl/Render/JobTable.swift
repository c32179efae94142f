import FoundationEssentials
import TransferAPI
import WireValues

/// The table of `status`.
struct JobTable {
  private let isWide: Bool
  private let paint: Paint
  private var table: Table
  private static let stateColumn = 1

  /// - Parameter maximum: the largest width of a line in columns; `nil` never shortens a cell.
  init(isWide: Bool, _ paint: Paint, maximum: Int? = nil) {
    self.isWide = isWide
    self.paint = paint
    var columns: [Table.Column] = [
      .init(title: "ID", alignment: .right), .init(title: "STATE"),
      .init(title: "DONE", alignment: .right), .init(title: "SIZE", alignment: .right),
      .init(title: "RATE", alignment: .right), .init(title: "ETA", alignment: .right),
    ]
    if isWide {
      columns += [
        .init(title: "ATTEMPT", alignment: .right), .init(title: "PRIO", alignment: .right),
        .init(title: "RESULT"), .init(title: "BATCH"), .init(title: "DESTINATION"), .init(title: "SOURCE"),
        .init(title: "ERROR"),
      ]
    } else {
      columns.append(.init(title: "NAME"))
    }
    table = Table(columns, maximum: maximum)
  }

  mutating func lines(_ jobs: [Job]) -> [String] {
    table.lines(jobs.map(row), paint) { [paint] row, column, text in
      column == Self.stateColumn ? paint.state(jobs[row].state, text) : text
    }
  }

  private func row(_ job: Job) -> [String] {
    let percent = HumanNumbers.percent(done: job.bytesDone, total: job.bytesTotal)
    var cells = [
      job.id.description, job.state.rawValue,
      percent.map { "\($0)%" } ?? HumanNumbers.size(job.bytesDone), HumanNumbers.size(job.bytesTotal),
      HumanNumbers.rate(job.bytesPerSecond), Self.eta(job),
    ]
    if isWide {
      cells += [
        "\(job.attempt)/\(job.maxAttempts)", String(job.priority), job.result?.rawValue ?? "-", job.batch ?? "-",
        job.destination,
        job.source, job.error.map { "\($0.code): \($0.message)" } ?? "-",
      ]
    } else {
      cells.append(Self.name(of: job))
    }
    return cells
  }

  private static func eta(_ job: Job) -> String {
    if job.state == .retrying, let retryAt = job.retryAt {
      return "in "
        + HumanNumbers.duration(
          seconds: CheckedNumber(rounding: max(0, retryAt.timeIntervalSinceNow).rounded(.up)).value ?? .max)
    }
    return HumanNumbers.eta(done: job.bytesDone, total: job.bytesTotal, rate: job.bytesPerSecond)
  }

  /// The job's short name: the file's name, else the last segment of the URL.
  static func name(of job: Job) -> String {
    let path = job.kind == .upload ? job.source : job.destination
    if job.kind != .relay, !path.baseName.isEmpty { return String(path.baseName) }
    let url = job.source.prefix(upToASCII: "?#")
    return url.componentsOfPath.last.map(String.init) ?? job.source
  }
}
