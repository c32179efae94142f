import Synchronization

/// The part of a group that runs on the transfer loop's thread: which uploads run now.
extension UploadGroupCore: TurnObserver {
  /// The uploads are prepared and wait for a connection.
  func enqueue(_ prepared: [UploadGroupMember], _ loop: isolated TransferLoop) {
    for member in prepared where member.phase == .waiting { transfers.queue.append(member, origin: member.origin) }
    preparationEnded(of: prepared.count)
    beginTransfers(loop)
  }

  func limitConnections(_ maximum: Int?, origin: String) async {
    await session.loop.run { loop in
      self.transfers.queue.setLimit(maximum, origin: origin)
      self.beginTransfers(loop)
    }
  }

  /// Starts waiting uploads while connections are free.
  private func beginTransfers(_ loop: isolated TransferLoop) {
    while transfers.queue.waitingCount > 0, let member = transfers.queue.next() {
      guard member.phase == .waiting else {
        transfers.queue.end(origin: member.origin)
        continue
      }
      member.phase = .running
      guard let prepared = member.prepared else {
        member.runAlone()
        continue
      }
      session.notify(member.requestID, .resume)
      session.notify(member.requestID, .send(prepared.request))
      session.reportSkippedTrust(prepared.request, member.requestID)
      loop.begin(
        prepared.wire, id: member.transferID, receiver: prepared.receiver, completion: .deliver(member))
    }
    transfers.waiting.store(transfers.queue.waitingCount, ordering: .relaxed)
    prepareMore()
  }

  /// The server has accepted the upload. Called while libcurl works; the rest happens at the end of the turn.
  func accept(_ member: UploadGroupMember) {
    transfers.accepted.append(member)
    guard transfers.accepted.count == 1 else { return }
    session.loop.assumeIsolated { $0.notifyAtEndOfTurn(self) }
  }

  func turnEnded(_ loop: isolated TransferLoop) {
    let accepted = transfers.accepted
    transfers.accepted.removeAll(keepingCapacity: true)
    for member in accepted { transfers.queue.end(origin: member.origin) }
    check(accepted)
    beginTransfers(loop)
  }

  /// A cancelled upload that has not left the group. One that the server has accepted keeps its outcome.
  func endCancelled(_ member: UploadGroupMember, _ loop: isolated TransferLoop) {
    switch member.phase {
    case .waiting where member.item.ledger != nil:
      // The single upload returns the ledger.
      member.phase = .accepted
      member.runAlone()
    case .waiting:
      member.phase = .ended
      session.notify(member.requestID, .fail(.cancelled))
      deliver([UploadGroup.Outcome(tag: member.item.tag, response: FileUploadResponse(failing: .cancelled))])
    case .running: loop.cancel(member.transferID)
    case .accepted, .ended: break
    }
  }

  /// Called when an upload that left the group has ended.
  func leftMemberEnded(_ member: UploadGroupMember, _ response: FileUploadResponse) async {
    await session.loop.run { loop in
      let held = member.phase == .running
      member.phase = .ended
      guard held else { return }
      self.transfers.queue.end(origin: member.origin)
      self.beginTransfers(loop)
    }
    deliver([UploadGroup.Outcome(tag: member.item.tag, response: response)])
  }
}
