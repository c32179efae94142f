import FoundationEssentials
import TransferAPI
import WireValues

/// Sends checked jobs to the daemon; prints the id of each as soon as it is durable.
struct Submission {
  private(set) var ids: [JobID] = []
  /// Of the first job that was refused.
  private(set) var failure: ExitStatus?
  /// A key answered a job that was there before.
  private(set) var hasExisting = false
  /// Jobs that were there before and had failed, or were cancelled.
  private(set) var spoiled: [JobID] = []
  /// The daemon that answered last.
  private(set) var client: ControlClient
  private var refused = 0
  /// Lines of the body, from 1.
  private var answered: Set<Int> = []
  /// What is there may be there by our own doing.
  private var isAgain = false
  private var comesBack = false

  private init(_ client: ControlClient) { self.client = client }

  /// A daemon that goes away meanwhile is waited for, and asked the same again, so often: it may take a while to stop.
  private static let tries = 20

  /// - Parameters:
  ///   - isAlone: one job, whose refusal is the command's own.
  ///   - connection: where every job has a key, to come back to a daemon that was restarted: a key makes it harmless to ask
  ///     again what may have been carried out.
  static func send(
    _ lines: JobLines, alone isAlone: Bool = false, from client: ControlClient, over connection: Connection? = nil
  ) async throws -> Submission {
    var submission = Submission(client)
    submission.comesBack = lines.areKeyed && connection != nil
    for isLast in Array(repeating: false, count: tries - 1) + [true] {  // checked: a constant of this program
      do {
        if isAlone { try await one(lines, &submission) } else { try await many(lines, &submission) }
        break
      } catch ControlError.unreachable(let reason) {
        guard !isLast, submission.comesBack, let connection else {
          if isAlone { throw ControlError.unreachable(reason) }
          throw CommandFailure(.unreachable, "\(reason); \(submission.tally(of: lines))")
        }
        submission.isAgain = true
        submission.client = try await connection.reopen(submission.client.socket)
      }
    }
    if !isAlone, submission.refused > 0 { Notice.say("transferctl: \(submission.tally(of: lines))") }
    return submission
  }

  private static func one(_ lines: JobLines, _ submission: inout Submission) async throws {
    let (status, answer) = try await submission.client.transport.send(
      "POST", "/v1/jobs", body: lines.body, contentType: "application/json")
    guard (200..<300).contains(status) else {
      let refusal = ControlClient.refusal(status: status, body: answer)
      guard let problem = refusal as? Problem, problem.code == .unavailable, submission.comesBack else { throw refusal }
      throw ControlError.unreachable(problem.detail)
    }
    try submission.take(try ControlClient.decode(from: answer), lines)
    try Output.standard.flush()
  }

  private static func many(_ lines: JobLines, _ submission: inout Submission) async throws {
    try await submission.client.lines(
      "POST", "/v1/jobs:batch", body: lines.body, contentType: "application/x-ndjson"
    ) { line in
      try submission.take(try ControlClient.decode(from: line), lines)
    } afterChunk: {
      try Output.standard.flush()
    }
    guard submission.answered.count == lines.count else {
      throw ControlError.unreachable("the daemon's answer was cut off")
    }
  }

  /// `added 3 of 5 jobs; 2 refused`
  private func tally(of lines: JobLines) -> String {
    "added \(ids.count) of \(HumanNumbers.jobs(lines.count))" + (refused > 0 ? "; \(refused) refused" : "")
  }

  private mutating func take(_ result: AddResult, _ lines: JobLines) throws {
    // A daemon that stops takes no more: the next one is asked.
    if let problem = result.error, problem.code == .unavailable, comesBack { return }
    guard answered.insert(result.line ?? answered.count + 1).inserted else { return }
    let origin = result.line.flatMap { line in
      (CheckedNumber(line) - 1).int.flatMap { lines.origins.indices.contains($0) ? lines.origins[$0] : nil }
    }
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
        if !isAgain { Notice.say("job \(id) was added before with this key\(state)") }
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
