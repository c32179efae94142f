import TransferAPI

/// The text of `why`: a sentence with the state of a job and its reason, and one with what would change it.
enum WhyText {
  static func lines(_ detail: JobDetail) -> [String] {
    let job = detail.job
    let (reason, remedy) =
      switch job.state {
      case .queued, .retrying: waiting(detail)
      case .running: (running(detail), nil)
      case .paused: ("is paused", "transferctl resume \(job.id) continues it.")
      case .completed: ("completed at \(job.finishedAt.map(WireCoding.rfc3339) ?? "an unknown time")", nil)
      case .failed: ("failed: \(failure(job))", "transferctl retry \(job.id) tries again.")
      case .cancelled: ("was cancelled", "transferctl retry \(job.id) starts it again.")
      }
    return ["job \(job.id) \(reason.printable)."] + [remedy].compactMap { $0 }
  }

  private static func waiting(_ detail: JobDetail) -> (reason: String, remedy: String?) {
    let job = detail.job
    guard let waiting = job.waiting else { return ("starts now", nil) }
    let until = waiting.until.map { " until \(WireCoding.rfc3339($0))" } ?? ""
    return ("waits\(until): \(waiting.detail)", remedy(waiting, detail))
  }

  /// What would let the job run, apart from the clock.
  private static func remedy(_ waiting: Waiting, _ detail: JobDetail) -> String {
    let id = detail.job.id
    switch waiting.reason {
    case .slot: return "It starts when it is its turn. transferctl set \(id) --priority N moves it forward."
    case .origin:
      return waiting.until == nil
        ? "It starts when a transfer with this server ends. transferctl set \(id) --priority N moves it forward."
        : "transferctl retry \(id) tries now, unless an interval of the configuration is not over."
    case .retry: return "transferctl retry \(id) tries now."
    case .batch:
      let name = detail.job.batch ?? "NAME"
      return
        "It starts when a transfer of its batch ends. transferctl batch set \(name) --max-active N changes the limit."
    case .notBefore: return "It starts at that time, as soon as a slot is free."
    case .window: return "It starts when its window opens, as soon as a slot is free."
    case .after:
      let names = detail.options.schedule.after.map { dependency in
        switch dependency {
        case .job(let id): "job \(id)"
        case .batch(let name): "batch \(name)"
        }
      }
      return "It starts when \(names.joined(separator: ", ")) \(names.count > 1 ? "have all" : "has") completed."
    case .blockedBy:
      guard let first = detail.blockedBy else { return "It starts when that upload has ended." }
      return "It starts when job \(first) has ended."
    case .limit: return "It starts at that time. A larger quota in the configuration applies after a reload."
    case .network: return "It starts when the interface is there; ip link show lists those of this machine."
    case .disk where detail.job.kind == .relay:
      return
        "It continues when other relays end or are removed; a larger spoolMax in the configuration applies after a reload."
    case .disk: return "It continues when the disk can be written again."
    }
  }

  private static func running(_ detail: JobDetail) -> String {
    let job = detail.job
    let total = job.bytesTotal.map { " of \(HumanNumbers.size($0))" } ?? ""
    let text =
      "runs: attempt \(job.attempt), \(HumanNumbers.size(job.bytesDone))\(total), \(HumanNumbers.rate(job.bytesPerSecond))"
    guard detail.isOutsideWindow else { return text }
    let window = detail.options.schedule.window.map { " \($0)" } ?? ""
    return text + "; its window\(window) is closed, but its transfer cannot be resumed and may finish"
  }

  private static func failure(_ job: Job) -> String {
    job.error?.text ?? "without a reason"
  }
}
