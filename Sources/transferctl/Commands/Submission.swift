import FoundationEssentials
import TransferAPI

/// Sends checked jobs to the daemon, and prints the id of each as soon as it is durable.
struct Submission {
  private let body: BulkBody
  private var added = AddedIDs()
  /// Whether the ids are needed later. A long list of them takes no memory otherwise.
  private let keepsIDs: Bool
  private var addedCount = 0
  /// The exit status for the first refused job.
  private(set) var failure: ExitStatus?
  /// Whether a key named a job that already existed.
  private(set) var hasExisting = false
  /// Jobs that already existed and are failed or cancelled.
  private(set) var endedBefore: [JobID] = []
  /// The client of the daemon that responded last.
  private(set) var client: ControlClient
  private var refused = 0
  /// Files of a list that were gone when the daemon looked for them.
  private var missing = 0
  /// Lines of the body that have a result, from 1.
  private var answered: AnsweredLines
  /// Whether the request was repeated: an existing job may be the result of the first request.
  private var isAgain = false
  /// Whether to repeat the request after the connection was lost.
  private let reconnects: Bool

  /// The ids of the jobs, if they were kept.
  var ids: [JobID] { added.all }

  private init(_ body: BulkBody, keepsIDs: Bool, reconnects: Bool, _ client: ControlClient) {
    self.body = body
    self.keepsIDs = keepsIDs
    self.reconnects = reconnects
    self.client = client
    answered = AnsweredLines(skipsGaps: !reconnects)
  }

  /// Number of times the request is sent; a daemon that is restarting may take a while.
  private static let attempts = 20

  /// - Parameters:
  ///   - keepsIDs: whether `ids` is needed.
  ///   - connection: used to reconnect to a restarted daemon if every job has a key: then the request may be repeated
  ///     without adding a job twice.
  /// - Throws: `CommandFailure` with `interrupted` after Ctrl-C: the jobs that the daemon had accepted by then are
  ///   added and printed.
  static func send(
    _ body: BulkBody, keepsIDs: Bool = false, from client: ControlClient, over connection: Connection? = nil
  ) async throws -> Submission {
    var submission = Submission(body, keepsIDs: keepsIDs, reconnects: body.areKeyed && connection != nil, client)
    for isLast in Array(repeating: false, count: attempts - 1) + [true] {  // checked: a constant of this program
      do {
        if body.form == .one { try await submission.sendOne() } else { try await submission.sendMany() }
        break
      } catch ControlError.unreachable(let reason) {
        guard !isLast, submission.reconnects, let connection else {
          throw CommandFailure(.unreachable, "\(reason); \(submission.doubt)")
        }
        submission.isAgain = true
        submission.client = try await connection.reopen(submission.client.socket)
      } catch let error as OutputError {
        // The jobs are stored all the same.
        throw CommandFailure(.failed, "\(error); \(submission.doubt)")
      }
    }
    if submission.missing > 0 { Notice.say("skipped \(HumanNumbers.files(submission.missing)): not found") }
    if body.form != .one, submission.refused > 0 { Notice.say("transferctl: \(submission.tally)") }
    return submission
  }

  private mutating func sendOne() async throws {
    var data = Data()
    let next = body.pieces()
    while let piece = try next() { data.append(piece) }
    let (status, response) = try await client.transport.send(
      "POST", "/v1/jobs", body: data, contentType: body.contentType)
    guard (200..<300).contains(status) else {
      let refusal = ControlClient.refusal(status: status, body: response)
      guard let problem = refusal as? Problem, problem.code == .unavailable, reconnects else {
        throw refusal
      }
      throw ControlError.unreachable(problem.detail)
    }
    try take(try ControlClient.decode(from: response))
    try Output.standard.flush()
  }

  /// Sends lines while their results arrive. After the first Ctrl-C no more lines are sent, but the results of those that were
  /// are awaited and printed; a second one ends the program.
  private mutating func sendMany() async throws {
    let body = body
    let client = client
    let isInterrupted = try await Interrupt.deferred {
      let next = body.pieces()
      try await client.lines(
        "POST", "/v1/jobs:batch", pieces: { Interrupt.isRequested ? nil : try next() }, contentType: body.contentType,
        headers: body.headers
      ) { line in
        if let run = AddedRun(json: line) {
          try take(run)
        } else {
          try take(try ControlClient.decode(from: line))
        }
      } afterChunk: {
        try Output.standard.flush()
      }
    }
    guard !isInterrupted else { throw CommandFailure(.interrupted, "interrupted; \(tally); the jobs continue") }
    guard answered.count == body.count else {
      throw ControlError.unreachable("transferd closed the connection before its response was complete")
    }
  }

  /// `added 3 of 5 jobs; 2 refused`
  private var tally: String {
    "added \(addedCount) of \(HumanNumbers.jobs(body.count))" + (refused > 0 ? "; \(refused) refused" : "")
  }

  /// What a lost connection or output leaves open: the daemon may have stored jobs whose ids did not arrive.
  private var doubt: String {
    let hint = "look with 'transferctl status' before you repeat it; with --key nothing is added twice"
    return body.form == .one ? "the job may have been added: \(hint)" : "\(tally), perhaps more: \(hint)"
  }

  private mutating func take(_ run: AddedRun) throws {
    guard answered.insert(run.lines) else { return }
    addedCount += run.count
    if keepsIDs { added.append(run.ids) }
    try Output.standard.numbers(run.ids)
  }

  private mutating func take(_ result: AddResult) throws {
    // A stopping daemon accepts no more jobs: the request is repeated.
    if let problem = result.error, problem.code == .unavailable, reconnects { return }
    let line = result.line ?? answered.count + 1
    guard answered.insert(line...line) else { return }
    if let problem = result.error, problem.code == .sourceMissing, body.skipsMissing,
      result.line.flatMap(body.origin)?.isLine ?? false
    {
      missing += 1
    } else if let problem = result.error {
      refused += 1
      if failure == nil { failure = ExitStatus(problem.code) }
      let origin = result.line.flatMap(body.origin)
      let naming = origin?.isLine ?? false ? body.naming : .options
      let words = problem.text.named { naming.name(of: $0) }
      Notice.say(origin.map { "\($0): \(words)" } ?? "transferctl: \(words)")
    } else if let id = result.id {
      addedCount += 1
      if keepsIDs { added.append(id.rawValue...id.rawValue) }
      try Output.standard.line(id.description)
      if result.existing == true {
        hasExisting = true
        let state = result.state.map { ", and is \($0.rawValue)" } ?? ""
        if !isAgain { Notice.say("job \(id) was added before with this key\(state)") }
        if result.state == .failed || result.state == .cancelled { endedBefore.append(id) }
      }
      if let warning = result.warning { Notice.say(warning) }
    } else {
      throw ControlError.unexpected("the response of transferd contains neither an id nor an error")
    }
  }
}

extension JobLines {
  /// Prints every fault. If there is one in a line or an option, nothing may be added.
  /// - Throws: `CommandFailure` with the status of the first fault.
  func requireFaultless() throws {
    for fault in faults { fault.say() }
    guard let first = faults.first(where: { !$0.isOfFile }) ?? (count == 0 ? faults.first : nil) else { return }
    throw CommandFailure(first.status, faults.count + count > 1 ? "nothing was added" : nil)
  }
}

extension JobLines.Fault {
  /// Prints the fault on standard error.
  func say() { Notice.say(origin.isLine ? "\(origin): \(message)" : "transferctl: \(message)") }
}

extension JobLines.Origin {
  /// Whether it is a line or an item of a list.
  var isLine: Bool {
    switch self {
    case .line, .item: true
    case .argument, .path: false
    }
  }
}
