import FoundationEssentials
import Logging
import Store
import TransferAPI
import TransferEngine
import WireValues

extension Recovery {
  /// Sets right what was running when the daemon ended. Before anything else happens in this run.
  /// - Parameters:
  ///   - paths: part files are looked for only where their jobs may write.
  ///   - mark: what the run before left; `nil` if it did not crash.
  static func perform(
    in store: Store, paths: PathPolicy, mark: CrashMark? = nil, hooks: HookConfiguration = .init(), logger: Logger,
    now: Date
  ) async throws {
    var crash: Crash?
    if let mark {
      let counted = try await store.countCrash(ofRun: mark.run)
      // A mark that could not be cleared is not of the last run.
      if !counted.isOver {
        logger.error(
          "the daemon crashed", metadata: ["signal": "\(mark.signalName)", "runningJobs": "\(counted.jobs)"])
        crash = Crash(mark: mark, isAlone: counted.jobs == 1)
      }
    }
    for record in try await store.running() {
      var settlement = settlement(record, crash, paths)
      settlement.aftermath.wantsHook = hooks.wantsHook(after: settlement.event)
      guard try await store.settle(settlement, at: now) else { continue }
      logger.notice(
        "job recovered", metadata: ["job": "\(record.job.id)", "event": "\(settlement.event.rawValue)"])
    }
    if let crash { try await store.endCrash(ofRun: crash.mark.run) }
  }

  /// A mark that was counted.
  private struct Crash {
    let mark: CrashMark
    /// One job ran.
    let isAlone: Bool
  }

  private static func settlement(_ record: JobRecord, _ crash: Crash?, _ paths: PathPolicy) -> Settlement {
    let verdict = CrashVerdict(
      marks: record.crashMarks, isMarked: crash != nil, isAlone: crash?.isAlone ?? false)
    var settlement: Settlement
    switch verdict {
    case .goOn: settlement = Self.settlement(found(of: record, paths), record, paths)
    case .goOnUnseen: settlement = cutOff(record)
    case .fail:
      settlement = cutOff(record)
      settlement.event = .fail
    }
    guard let crash, settlement.event != .complete else { return settlement }
    settlement.isMarked = true
    settlement.reason = CrashVerdict.reason(crash.mark, marks: record.crashMarks)
    guard verdict == .fail else { return settlement }
    let message = CrashVerdict.message(crash.mark, marks: record.crashMarks)
    settlement.failure = JobFailure(code: .internal, message: message, transient: false)
    settlement.attempt.error = settlement.failure
    settlement.reason = message
    return settlement
  }

  /// What the disk says of it.
  private static func found(of record: JobRecord, _ paths: PathPolicy) -> Recovery {
    guard record.job.kind == .download else { return Recovery(crashes: record.crashes) }
    let path = record.spec.destination
    let rules = paths.rules(for: record.spec.owner, .write)
    return Recovery(
      finishing: record.finishing,
      atPartName: identity(JobRunner.directory(of: record) + "/" + JobRunner.partialName(of: record), rules),
      atDestination: path.hasSuffix("/") ? nil : identity(path, rules), crashes: record.crashes)
  }

  /// An attempt that was cut off with the daemon.
  private static func cutOff(_ record: JobRecord) -> Settlement {
    var settlement = Settlement(
      id: record.job.id, fence: record.fence, event: .requeue, bytesDone: record.job.bytesDone,
      bytesTotal: record.job.bytesTotal)
    settlement.attempt.outcome = .interrupted
    settlement.attempt.isEndUnknown = true
    settlement.crashed = true
    return settlement
  }

  /// Within one boot the part file tells how far the job came. One that came further is no job that ends daemons.
  private static func noteProgress(in settlement: inout Settlement, _ record: JobRecord, _ rules: PathRules) {
    guard record.job.kind == .download else {
      // What the server acknowledged is in the row, and has set the count of crashes back.
      settlement.crashed = true
      return
    }
    var data = record.resumeData.flatMap { ResumeData($0) }
    if data?.isAtRest == true {
      // The attempt that was cut off has begun to write to what the one before it had left at rest.
      data?.isAtRest = nil
      settlement.resumeData = data.map { .set($0.encoded()) } ?? .keep
    }
    settlement.bytesDone = data.flatMap { PartialFiles.usableBytes($0, rules: rules) } ?? 0
    settlement.resetAttempts = settlement.bytesDone > record.job.bytesDone
    settlement.crashed = !settlement.resetAttempts
  }

  /// Doubled from 1 s up to half a minute: long enough for the others, short enough for a job that was only unlucky.
  // checked: tries is 1 at least
  private static func parkingTime(_ tries: Int) -> Duration { .seconds(min(30, 1 << min(tries - 1, 5))) }

  private static func identity(_ path: String, _ rules: PathRules) -> RowFileIdentity? {
    PartialFiles.identity(ofFileAt: path, rules: rules).map { .init(device: $0.device, inode: $0.inode) }
  }

  private static func settlement(_ found: Recovery, _ record: JobRecord, _ paths: PathPolicy) -> Settlement {
    let rules = paths.rules(for: record.spec.owner, .write)
    var settlement = cutOff(record)
    settlement.crashed = false
    switch found {
    case .requeue:
      settlement.reason = "the daemon ended unexpectedly"
      noteProgress(in: &settlement, record, rules)
    case .park(let tries):
      noteProgress(in: &settlement, record, rules)
      guard settlement.crashed else { break }
      settlement.event = .postpone
      settlement.retryDelay = parkingTime(tries)
      settlement.reason = "the daemon ended unexpectedly \(record.crashes.saturatingSum(1)) times while this job ran"
      settlement.failure = JobFailure(code: .internal, message: settlement.reason ?? "", transient: true)
    case .complete:
      complete(&settlement, record, paths)
    }
    return settlement
  }

  /// A disk that refuses is no reason not to start: the job tries again, like one whose attempt came so far.
  private static func complete(_ settlement: inout Settlement, _ record: JobRecord, _ paths: PathPolicy) {
    let part = JobRunner.partialName(of: record)
    let rules = paths.rules(for: record.spec.owner, .write)
    JobRunner.removeDownload(of: record, paths)
    do throws(TransferError) {
      try PartialFiles.synchronizeDirectory(JobRunner.directory(of: record), rules: rules)
      settlement.event = .complete
      settlement.reason = "found complete after an unexpected end"
      settlement.attempt.outcome = .completed
      settlement.resumeData = .clear
    } catch {
      settlement.event = .postpone
      settlement.retryDelay = .seconds(1)
      settlement.failure = JobFailure(error)
      settlement.reason = settlement.failure?.message
      let data = PartialFiles.resumeData(
        ofNamedFile: record.spec.destination, partialName: part, url: record.spec.url, rules: rules)
      if let data { settlement.resumeData = .set(data.encoded()) }
    }
  }
}
