import FoundationEssentials
import TransferAPI
import WireValues

/// The table of `plan`.
struct PlanTable {
  private let paint: Paint
  private let now: Date
  private var table = Table([
    .init(title: "ID", alignment: .right), .init(title: "START", alignment: .right),
    .init(title: "END", alignment: .right), .init(title: "LEFT", alignment: .right),
    .init(title: "PRIO", alignment: .right), .init(title: "BATCH"), .init(title: "NAME"), .init(title: "WAITS FOR"),
  ])

  init(_ paint: Paint, now: Date) {
    self.paint = paint
    self.now = now
  }

  mutating func lines(_ jobs: [QueuePlan.Entry]) -> [String] { table.lines(jobs.map(row), paint) }

  private func row(_ job: QueuePlan.Entry) -> [String] {
    let path = job.kind == .download ? job.destination : job.source
    let name = path.baseName.isEmpty ? job.source : String(path.baseName)
    return [
      job.id.description, time(job.start), time(job.end), HumanNumbers.size(job.bytesLeft), String(job.priority),
      job.batch ?? "-", name, job.waiting?.reason.rawValue ?? "-",
    ]
  }

  /// `now`, `in 5m00s`, or `?` while unknown.
  private func time(_ date: Date?) -> String {
    guard let date else { return "?" }
    let seconds = CheckedNumber(rounding: date.timeIntervalSince(now).rounded(.up)).value ?? .max
    return seconds > 0 ? "in \(HumanNumbers.duration(seconds: seconds))" : "now"
  }
}
