import Synchronization

/// The part of a group that runs on the transfer loop's thread: which downloads run now.
extension DownloadGroupCore: TurnObserver {
  /// The downloads are prepared and wait for a connection.
  func enqueue(_ prepared: [GroupPreparation.Result], _ loop: isolated TransferLoop) {
    var ended: [DownloadGroup.Outcome] = []
    for (member, end) in prepared where member.phase == .waiting {
      if let end {
        member.phase = .ended
        session.notify(member.requestID, end.error.map { .fail($0) } ?? .finish)
        ended.append(DownloadGroup.Outcome(tag: member.download.tag, response: end))
      } else {
        transfers.queue.append(member, origin: member.origin)
      }
    }
    deliver(ended)
    preparationEnded(of: prepared.count)
    beginTransfers(loop)
  }

  func limitConnections(_ maximum: Int?, origin: String) async {
    await session.loop.run { loop in
      self.transfers.queue.setLimit(maximum, origin: origin)
      self.beginTransfers(loop)
    }
  }

  /// Starts waiting downloads while connections are free.
  private func beginTransfers(_ loop: isolated TransferLoop) {
    while transfers.queue.waitingCount > 0, transfers.mayBegin(), let member = transfers.queue.next() {
      guard member.phase == .waiting else {
        transfers.queue.end(origin: member.origin)
        continue
      }
      member.phase = .running
      guard let wire = member.takeWire(), let request = member.request else {
        member.runAlone()
        continue
      }
      session.notify(member.requestID, .resume)
      session.notify(member.requestID, .send(request))
      session.reportSkippedTrust(request, member.requestID)
      loop.begin(wire, id: member.transferID, receiver: member, completion: .deliver(member))
    }
    transfers.waiting.store(transfers.queue.waitingCount, ordering: .relaxed)
    prepareMore()
  }

  /// All bytes of the download have arrived. Called while libcurl works; the rest happens at the end of the turn.
  func arrive(_ member: GroupMember) {
    transfers.arrived.append(member)
    guard transfers.arrived.count == 1 else { return }
    session.loop.assumeIsolated { $0.notifyAtEndOfTurn(self) }
  }

  func turnEnded(_ loop: isolated TransferLoop) {
    let arrived = transfers.arrived
    transfers.arrived.removeAll(keepingCapacity: true)
    for member in arrived { transfers.queue.end(origin: member.origin) }
    let files = arrived.filter { !$0.isUnchanged }
    transfers.addUnnamed(files.count)
    land(files)
    if journal != nil { reportArrival(arrived.map(\.download.tag)) }
    if files.count < arrived.count { deliver(arrived.filter(\.isUnchanged).compactMap { $0.unchangedOutcome() }) }
    beginTransfers(loop)
  }

  /// A cancelled download that has not left the group. One that has arrived ends in its landing.
  func endCancelled(_ member: GroupMember, _ loop: isolated TransferLoop) {
    switch member.phase {
    case .waiting where member.download.resumeData != nil:
      // The single download decides about the part file.
      member.phase = .arrived
      member.runAlone()
    case .waiting:
      member.phase = .ended
      deliver([failedOutcome(member, .cancelled)])
    case .running: loop.cancel(member.transferID)
    case .arrived, .ended: break
    }
  }

  private func failedOutcome(_ member: GroupMember, _ error: TransferError) -> DownloadGroup.Outcome {
    session.notify(member.requestID, .fail(error))
    return DownloadGroup.Outcome(tag: member.download.tag, response: FileResponse(failing: error))
  }

  /// A download that left the group has ended.
  func leftMemberEnded(_ member: GroupMember, _ response: FileResponse) async {
    await session.loop.run { loop in
      let held = member.phase == .running
      member.phase = .ended
      guard held else { return }
      self.transfers.queue.end(origin: member.origin)
      self.beginTransfers(loop)
    }
    deliver([DownloadGroup.Outcome(tag: member.download.tag, response: response)])
  }

  /// Transfers that waited for files to get their names can begin.
  func continueTransfers() {
    Task { await session.loop.run { loop in self.beginTransfers(loop) } }
  }
}
