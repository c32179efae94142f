import FoundationEssentials
import TransferAPI

/// Sends checked jobs to the daemon; prints the id of each as soon as it is durable.
struct Submission {
  private(set) var ids: [JobID] = []
  /// Of the first job that was refused.
  private(set) var failure: ExitStatus?
  /// A key answered a job that was there before.
  private(set) var hasExisting = false
  /// Jobs that were there before and had failed, or were cancelled.
  private(set) var spoiled: [JobID] = []
  private var refused = 0
  private var answered = 0

  static func one(_ lines: JobLines, _ client: ControlClient) async throws -> Submission {
    let (status, answer) = try await client.transport.send(
      "POST", "/v1/jobs", body: lines.body, contentType: "application/json")
    guard (200..<300).contains(status) else { throw ControlClient.refusal(status: status, body: answer) }
    var submission = Submission()
    try submission.take(try ControlClient.decode(from: answer), lines)
    try Output.standard.flush()
    return submission
  }

  static func many(_ lines: JobLines, _ client: ControlClient) async throws -> Submission {
    var submission = Submission()
    do {
      try await client.lines(
        "POST", "/v1/jobs:batch", body: lines.body, contentType: "application/x-ndjson"
      ) { line in
        try submission.take(try ControlClient.decode(from: line), lines)
      } afterChunk: {
        try Output.standard.flush()
      }
    } catch ControlError.unreachable(let reason) {
      throw CommandFailure(.unreachable, "\(reason); \(submission.tally(of: lines))")
    }
    guard submission.answered == lines.count else {
      throw CommandFailure(.unreachable, "the daemon's answer was cut off; \(submission.tally(of: lines))")
    }
    if submission.refused > 0 { Notice.say("transferctl: \(submission.tally(of: lines))") }
    return submission
  }

  /// `added 3 of 5 jobs; 2 refused`
  private func tally(of lines: JobLines) -> String {
    "added \(ids.count) of \(HumanNumbers.jobs(lines.count))" + (refused > 0 ? "; \(refused) refused" : "")
  }

  private mutating func take(_ result: AddResult, _ lines: JobLines) throws {
    answered += 1
    let origin = result.line.flatMap { lines.origins.indices.contains($0 - 1) ? lines.origins[$0 - 1] : nil }
    if let problem = result.error {
      refused += 1
      if failure == nil { failure = ExitStatus(problem.code) }
      Notice.say(origin.map { "\($0): \(problem.detail)" } ?? "transferctl: \(problem.detail)")
    } else if let id = result.id {
      ids.append(id)
      try Output.standard.line(id.description)
      if result.existing == true {
        hasExisting = true
        let state = result.state.map { ", and is \($0.rawValue)" } ?? ""
        Notice.say("job \(id) was added before with this key\(state)")
        if result.state == .failed || result.state == .cancelled { spoiled.append(id) }
      }
      if let warning = result.warning { Notice.say(warning) }
    } else {
      throw ControlError.unexpected("the daemon's answer names neither an id nor an error")
    }
  }
}

extension JobLines {
  /// Says every fault; nothing is to be added where there is one.
  /// - Throws: `CommandFailure` with the status of the first.
  func requireFaultless() throws {
    for fault in faults {
      Notice.say(
        fault.origin.isLine ? "\(fault.origin): \(fault.message)" : "transferctl: \(fault.message)")
    }
    guard let first = faults.first(where: { !$0.isOfFile }) ?? (count == 0 ? faults.first : nil) else { return }
    throw CommandFailure(first.status, faults.count + count > 1 ? "nothing was added" : nil)
  }
}

extension JobLines.Origin {
  fileprivate var isLine: Bool {
    switch self {
    case .line, .item: true
    case .argument, .path: false
    }
  }
}
