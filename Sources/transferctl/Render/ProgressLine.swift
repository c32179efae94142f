import TransferAPI

/// Formats the progress of jobs in plain ASCII, in lines of limited width.
enum ProgressLine {
  /// One line per running job, as many as fit, and a summary.
  static func lines(of tracker: JobTracker, columns: Int, rows: Int, _ paint: Paint) -> [String] {
    let running = tracker.running.sorted()
    let room = max(1, rows - 3)
    var lines = running.prefix(room).compactMap { id -> String? in
      tracker.entries[id].map { line(id, $0, columns: columns, paint) }
    }
    if running.count > room {
      lines.append("     and \(running.count - room) more running".fitted(to: columns - 1))
    }
    lines.append(summary(of: tracker).fitted(to: columns - 1))
    return lines
  }

  /// `  12 debian.iso            [=====>     ]  45%  1.2 MiB/s    2m05s`. A narrow terminal has no bar.
  static func line(_ id: JobID, _ entry: JobTracker.Entry, columns: Int, _ paint: Paint) -> String {
    // A line that fills the last column would wrap on some terminals.
    let width = columns - 1
    let percent = HumanNumbers.percent(done: entry.bytesDone, total: entry.bytesTotal)
    let amount = percent.map { "\($0)%".paddedLeft(to: 4) } ?? HumanNumbers.size(entry.bytesDone)
    let numbers = [
      amount.paddedLeft(to: percent == nil ? 10 : 4),
      HumanNumbers.rate(entry.bytesPerSecond).paddedLeft(to: 12),
      HumanNumbers.eta(
        done: entry.bytesDone, total: entry.bytesTotal, rate: entry.bytesPerSecond
      ).paddedLeft(to: 6),
    ].joined(separator: " ")
    let label = String(id.description).paddedLeft(to: 4) + " "
    let left = width - label.columns - numbers.columns - 1
    guard left >= 8 else { return (label + numbers).fitted(to: width) }
    let barWidth = left >= 40 ? min(30, left / 2) : 0
    let nameWidth = left - (barWidth > 0 ? barWidth + 1 : 0)
    let name = entry.name.printable.fitted(to: nameWidth).padded(to: nameWidth)
    let bar = barWidth > 0 ? paint.state(.running, Self.bar(percent, width: barWidth)) + " " : ""
    return "\(label)\(name) \(bar)\(numbers)"
  }

  /// `[====>     ]`, exactly `width` columns; dashes while the percentage is unknown.
  static func bar(_ percent: Int?, width: Int) -> String {
    guard width > 2 else { return String(repeating: " ", count: max(0, width)) }
    let inner = width - 2
    guard let percent else { return "[" + String(repeating: "-", count: inner) + "]" }
    let filled = inner * min(max(percent, 0), 100) / 100
    guard filled < inner else { return "[" + String(repeating: "=", count: inner) + "]" }
    let head = filled > 0 ? String(repeating: "=", count: filled - 1) + ">" : ""
    return "[" + head + String(repeating: " ", count: inner - filled) + "]"
  }

  /// `2 running, 5 queued, 3 completed; 45% of 1.2 GiB, 3.1 MiB/s, 2m05s left`
  static func summary(of tracker: JobTracker) -> String {
    var text = counts(tracker.counts)
    let (done, total) = tracker.bytes
    if let total, let percent = HumanNumbers.percent(done: done, total: total) {
      text += "; \(percent)% of \(HumanNumbers.size(total))"
    } else {
      text += "; \(HumanNumbers.size(done))"
    }
    let rate = tracker.bytesPerSecond
    if rate > 0 { text += ", \(HumanNumbers.rate(rate))" }
    let eta = HumanNumbers.eta(done: done, total: total, rate: rate)
    if rate > 0, eta != "-" { text += ", \(eta) left" }
    return text
  }

  /// The same for sums.
  static func summary(of sums: WatchSums) -> String {
    var text = counts(sums.counts)
    if let done = sums.bytesDone, let total = sums.bytesTotal, total > 0 {
      text += "; \(HumanNumbers.size(done)) of \(HumanNumbers.size(total)) known"
    }
    if sums.bytesPerSecond > 0 { text += ", \(HumanNumbers.rate(sums.bytesPerSecond))" }
    return text
  }

  /// `2 running, 5 queued, 3 completed`
  static func counts(_ counts: StateCounts) -> String {
    let states: [JobState] = [.running, .queued, .retrying, .paused, .completed, .failed, .cancelled]
    return states.filter { counts[$0] > 0 }.map { "\(counts[$0]) \($0.rawValue)" }
      .joined(separator: ", ")
  }
}
