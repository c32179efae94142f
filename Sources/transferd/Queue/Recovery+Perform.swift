import FoundationEssentials
import Logging
import Store
import TransferAPI
import TransferEngine
import WireValues

extension Recovery {
  /// Recovers the jobs that were running when the daemon ended. It must run before any job starts.
  /// - Parameters:
  ///   - paths: part files are searched only in directories that their jobs may write to.
  ///   - relays: where the files of relays are.
  ///   - mark: the crash mark of the last run; `nil` if it did not crash.
  static func perform(
    in store: Store, paths: PathPolicy, relays: RelaySpool, mark: CrashMark? = nil, hooks: HookConfiguration = .init(),
    logger: Logger,
    now: Date
  ) async throws {
    var crash: Crash?
    if let mark {
      let counted = try await store.countCrash(ofRun: mark.run)
      // A mark that was counted before and could not be cleared is not from the last run.
      if !counted.isOver {
        logger.error(
          "the daemon crashed", metadata: ["signal": "\(mark.signalName)", "runningJobs": "\(counted.jobs)"])
        crash = Crash(mark: mark, ranAlone: counted.jobs == 1)
      }
    }
    for record in try await store.running() {
      var settlement = settlement(record.leg(in: relays), crash, paths)
      if settlement.event == .complete, record.spec.relay?.phase == .download {
        AttemptVerdict.beginUpload(&settlement)
      }
      settlement.followUp.wantsHook = hooks.wantsHook(after: settlement.event)
      guard try await store.settle(settlement, at: now) else { continue }
      logger.notice(
        "job recovered", metadata: ["job": "\(record.job.id)", "event": "\(settlement.event.rawValue)"])
    }
    if let crash { try await store.endCrash(ofRun: crash.mark.run) }
  }

  /// A crash of the last run, which was counted for the running jobs.
  private struct Crash {
    let mark: CrashMark
    /// Whether exactly one job was running.
    let ranAlone: Bool
  }

  private static func settlement(_ record: JobRecord, _ crash: Crash?, _ paths: PathPolicy) -> Settlement {
    let verdict = CrashVerdict(
      marks: record.crashMarks, isMarked: crash != nil, ranAlone: crash?.ranAlone ?? false)
    var settlement: Settlement
    switch verdict {
    case .resume: settlement = Self.settlement(recovery(of: record, paths), record, paths)
    case .resumeUnchecked: settlement = interrupted(record)
    case .fail:
      settlement = interrupted(record)
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

  /// Determines the recovery from the files on disk.
  private static func recovery(of record: JobRecord, _ paths: PathPolicy) -> Recovery {
    guard record.job.kind == .download else { return Recovery(crashes: record.crashes) }
    let path = landedPath(of: record, paths) ?? record.spec.destination
    let rules = paths.rules(forFileOf: record.spec)
    return Recovery(
      finishing: record.finishing,
      atPartName: identity(JobRunner.directory(of: record) + "/" + JobRunner.partialName(of: record), rules),
      atDestination: path.hasTrailingSlash ? nil : identity(path, rules), crashes: record.crashes)
  }

  /// Where a file is that was to be renamed to the first free name; `nil` for other jobs, and if it has none of the names.
  private static func landedPath(of record: JobRecord, _ paths: PathPolicy) -> String? {
    guard ExistingFileRule(record.spec.options.download) == .rename, let finishing = record.finishing,
      !record.spec.destination.hasTrailingSlash
    else { return nil }
    return PartialFiles.path(
      of: finishing, named: record.spec.destination, rules: paths.rules(forFileOf: record.spec))
  }

  /// The settlement of an attempt that was interrupted by the end of the daemon.
  private static func interrupted(_ record: JobRecord) -> Settlement {
    var settlement = Settlement(
      id: record.job.id, fence: record.fence, event: .requeue, bytesDone: record.job.bytesDone,
      bytesTotal: record.job.bytesTotal)
    settlement.attempt.outcome = .interrupted
    settlement.attempt.isEndUnknown = true
    settlement.crashed = true
    return settlement
  }

  /// Reads the job's progress from the part file. A job with progress does not count this end of the daemon as a crash.
  private static func updateProgress(in settlement: inout Settlement, _ record: JobRecord, _ rules: PathRules) {
    guard record.job.kind == .download else {
      // The row holds the bytes that the server acknowledged; acknowledged progress has already reset the crash count.
      settlement.crashed = true
      return
    }
    var data = record.resumeData.flatMap { ResumeData($0) }
    if data?.isAtRest == true {
      // The interrupted attempt may have written to the part file since it was marked as being at rest.
      data?.isAtRest = nil
      settlement.resumeData = data.map { .set($0.encoded()) } ?? .keep
    }
    settlement.bytesDone = data.flatMap { PartialFiles.usableBytes($0, rules: rules) } ?? 0
    settlement.resetAttempts = settlement.bytesDone > record.job.bytesDone
    settlement.crashed = !settlement.resetAttempts
  }

  /// 1 s, doubled each time, at most 30 s: long enough for other jobs to start, short enough for a job that did not cause
  /// the crashes.
  private static func delay(forAttempt attempt: Int) -> Duration {
    .seconds(Backoff.seconds(afterFailure: attempt, atMost: 30))
  }

  private static func identity(_ path: String, _ rules: PathRules) -> FileIdentity? {
    PartialFiles.identity(ofFileAt: path, rules: rules)?.withoutBirth
  }

  private static func settlement(_ recovery: Recovery, _ record: JobRecord, _ paths: PathPolicy) -> Settlement {
    let rules = paths.rules(forFileOf: record.spec)
    var settlement = interrupted(record)
    settlement.crashed = false
    switch recovery {
    case .requeue:
      settlement.reason = "the daemon ended unexpectedly"
      updateProgress(in: &settlement, record, rules)
    case .postpone(let attempt):
      updateProgress(in: &settlement, record, rules)
      guard settlement.crashed else { break }
      settlement.event = .postpone
      settlement.retryDelay = delay(forAttempt: attempt)
      settlement.reason = "the daemon ended unexpectedly \(record.crashes.saturatingSum(1)) times while this job ran"
      settlement.failure = JobFailure(code: .internal, message: settlement.reason ?? "", transient: true)
    case .complete:
      complete(&settlement, record, paths)
    }
    return settlement
  }

  /// Completes a renamed download. If the disk fails, the job is postponed instead, so that the daemon can start.
  private static func complete(_ settlement: inout Settlement, _ record: JobRecord, _ paths: PathPolicy) {
    let part = JobRunner.partialName(of: record)
    let path = landedPath(of: record, paths) ?? record.spec.destination
    let rules = paths.rules(forFileOf: record.spec)
    JobRunner.removeDownload(of: record, paths)
    do throws(TransferError) {
      try PartialFiles.synchronizeDirectory(JobRunner.directory(of: record), rules: rules)
      settlement.event = .complete
      settlement.reason = "found complete after an unexpected end"
      settlement.attempt.outcome = .completed
      settlement.resumeData = .clear
      settlement.fileRecord = record.finishingRecord
      if path != record.spec.destination { settlement.destination = path }
      let version = record.finishing.flatMap { PartialFiles.version(ofFileAt: path, expecting: $0, rules: rules) }
      settlement.followUp.fileAction = AttemptVerdict.fileAction(of: record, path: path, version)
    } catch {
      settlement.event = .postpone
      settlement.retryDelay = .seconds(1)
      settlement.failure = JobFailure(error)
      settlement.reason = settlement.failure?.message
      let data = PartialFiles.resumeData(
        ofNamedFile: path, partialName: part, url: record.spec.url, rules: rules)
      if let data { settlement.resumeData = .set(data.encoded()) }
    }
  }
}
