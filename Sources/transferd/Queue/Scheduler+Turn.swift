import FoundationEssentials
import Logging
import Store
import Threads
import TransferAPI
import TransferEngine

/// Turns: the ends of attempts are stored and jobs are claimed in one transaction.
extension Scheduler {
  /// Stores the ends of attempts, claims jobs, and reports the result to the queue.
  func turn(_ ended: [JobID], _ picked: [JobID]) async {
    var settlements: [Settlement] = []
    for id in ended {
      guard let attempt = active[id], let response = attempt.response else { continue }
      settlements.append(await settlement(of: attempt.record, response))
    }
    var turn = JobQueueEvent.Turn()
    do {
      let (claimed, settled) = try await settle(settlements, claiming: picked, &turn.hasFailed)
      for (settlement, isSettled) in zip(settlements, settled) {
        guard let origin = active[settlement.id]?.record.spec.origin else { continue }
        turn.ended.append(
          .init(
            job: settlement.id, origin: origin,
            retryAt: settlement.event == .postpone ? settlement.retryAt ?? Date() : nil))
        didSettle(settlement, isSettled: isSettled)
      }
      for record in claimed { turn.claimed.append(claim(record)) }
    } catch {
      logger.error("cannot start jobs", metadata: ["error": "\(error)"])
      turn.hasFailed = true
    }
    send(.turned(turn))
  }

  private func claim(_ record: JobRecord) -> JobQueueEvent.Claim {
    active[record.job.id] = Active(record: record)
    return .init(
      job: record.job.id, origin: record.spec.origin, batch: record.spec.batchID, owner: record.spec.owner,
      fence: record.fence,
      priority: record.spec.priority,
      isLarge: (record.job.bytesTotal ?? 0) > FinishedTransfer.smallFile, isResumable: record.isResumable,
      isRevocable: record.job.kind != .upload,
      isolationLimit: record.runsAlone ? Admission.isolationLimit(crashMarks: record.crashMarks) : nil)
  }

  private func settlement(of record: JobRecord, _ response: AttemptResponse) async -> Settlement {
    var generator = SystemRandomNumberGenerator()
    let now = Date()
    let stop = queue.attempts[record.job.id]?.stop
    var verdict = AttemptVerdict(
      response, of: record.leg(in: runner.relays), stop: stop, now: now, using: &generator)
    if let relay = record.spec.relay { settleRelay(&verdict, response, relay.phase, record.job.id) }
    await updateOrigin(response, record, now: now, &verdict)
    verdict.settlement.sources = runner.sources.reports(of: record.job.id) ?? []
    if verdict.removesPartFile { await runner.removePartFiles(of: [record]) }
    if let relay = record.spec.relay, verdict.settlement.event != .complete {
      holdCopy(verdict, relay.phase, record.job.id)
    }
    verdict.settlement.followUp.wantsHook = limits.hooks.wantsHook(after: verdict.settlement.event)
    return verdict.settlement
  }

  /// Called after the end of the attempt was stored: the job no longer has an attempt.
  /// - Parameter isSettled: whether the store accepted the settlement.
  private func didSettle(_ settlement: Settlement, isSettled: Bool) {
    guard let attempt = active.removeValue(forKey: settlement.id) else { return }
    runner.sources.end(settlement.id)
    if attempt.isLimited { runner.bandwidth.removeLimit(of: settlement.id) }
    if queue.load.perOrigin[attempt.record.spec.origin] == nil { runner.bandwidth.forget(attempt.record.spec.origin) }
    startFollowUps(settlement, attempt.record)
    if settlement.beginsUpload { Task { await uploadBegins() } }
    log(settlement)
    tracker.remove(settlement.id, transferred: settlement.attempt.bytesReceived)
    countQuota()
    let state = isSettled ? try? JobState.running.applying(settlement.event) : nil
    for waiter in attempt.waiters { waiter.resume(returning: .success(state)) }
  }

  /// Tells those who wait for ends of attempts why they cannot be stored now: a full disk may stay full for long. Also
  /// for attempts that have ended since: their ends wait for the turn that is under way.
  private func refuseWaiters(_ error: StoreError) {
    for attempt in active.values where attempt.response != nil {
      for waiter in attempt.waiters { waiter.resume(returning: .failure(error)) }
      attempt.waiters = []
    }
  }

  /// Updates the state of the job's origin and sets the job's retry time.
  private func updateOrigin(
    _ response: AttemptResponse, _ record: JobRecord, now: Date, _ verdict: inout AttemptVerdict
  ) async {
    let origin = record.spec.origin
    if verdict.settlement.event == .postpone {
      verdict.settlement.retryAt = now.addingTimeInterval(verdict.settlement.retryDelay.seconds)
    }
    guard let error = response.error else {
      queue.governor.recordResponse(from: origin, now: now)
      return
    }
    if error.isConnectionFailure || [429, 503].contains(error.status) && response.respondingOrigin == origin {
      queue.recordRefusal(by: origin, now: now)
    }
    if error.isConnectionFailure {
      queue.governor.recordConnectionFailure(to: origin, by: record.job.id, now: now)
    } else if response.head != nil {
      queue.governor.recordResponse(from: origin, now: now)
    }
    if let delay = error.retryAfter, delay > .zero, [429, 503].contains(error.status),
      response.respondingOrigin == origin
    {
      let state = queue.governor.close(origin, for: min(delay, AttemptVerdict.policy.maximumRetryAfter), now: now)
      do {
        try await store.blockOrigin(origin, failures: state.failures, until: state.blockedUntil, at: now)
      } catch {
        logger.warning("cannot store a server's Retry-After", metadata: ["error": "\(error)"])
      }
      setAlarm(state.blockedUntil ?? now)
    }
  }

  /// Stores settlements and claims jobs. Settlements are retried until the store accepts them, because a full disk is
  /// temporary. Until then the stored jobs are `running`, and recovery handles them if the daemon ends.
  /// - Parameter hasFailed: set if the first attempt to store failed; then no job is claimed and the jobs remain waiting.
  /// - Returns: the claimed jobs, and for each settlement whether it was stored.
  /// - Throws: the store's error if there are no settlements.
  private func settle(
    _ settlements: [Settlement], claiming ids: [JobID], _ hasFailed: inout Bool
  ) async throws -> (claimed: [JobRecord], settled: [Bool]) {
    var wait = Duration.milliseconds(100)
    var ids = ids
    while true {
      do {
        let (settled, claimed) = try await store.settle(
          settlements, claiming: ids, at: Date(), closedWindows: queue.closedWindows)
        for (settlement, isSettled) in zip(settlements, settled) where !isSettled {
          logger.warning("ignoring the end of an attempt that lost its claim", metadata: ["job": "\(settlement.id)"])
        }
        return (claimed, settled)
      } catch StoreError.closed {
        return ([], settlements.map { _ in false })
      } catch let error where settlements.isEmpty {
        throw error
      } catch {
        logger.error(
          "cannot store the ends of attempts; retrying",
          metadata: ["jobs": "\((settlements.map(\.id) + ids).prefix(10))", "error": "\(error)"])
        refuseWaiters(error)
        hasFailed = true
        ids = []
        if isStopping { return ([], settlements.map { _ in false }) }
        try? await Task.pause(for: wait)
        wait = min(wait * 2, .seconds(10))
      }
    }
  }

  private func log(_ settlement: Settlement) {
    guard settlement.failure != nil || logger.logLevel <= .info else { return }
    var metadata: Logger.Metadata = ["job": "\(settlement.id)", "bytes": "\(settlement.bytesDone)"]
    if let failure = settlement.failure {
      metadata["code"] = "\(failure.code)"
      metadata["reason"] = "\(failure.message)"
    }
    switch settlement.event {
    case .complete: logger.info("job completed", metadata: metadata)
    case .fail: logger.warning("job failed", metadata: metadata)
    case .postpone:
      metadata["delay"] = "\(Int(settlement.retryDelay.seconds * 1000)) ms"  // checked: 366 days at most
      logger.info("job will be retried", metadata: metadata)
    case .pause: logger.info("job paused", metadata: metadata)
    case .cancel: logger.info("job cancelled", metadata: metadata)
    case .requeue: logger.info("job interrupted", metadata: metadata)
    case .claim, .resume, .retry, .expire: break
    }
  }
}
