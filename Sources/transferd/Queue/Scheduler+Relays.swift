import FoundationEssentials
import Logging
import Store
import TransferAPI
import TransferEngine

/// Relays: their phases, and the room of their copies in the spool.
extension Scheduler {
  /// Called at the start: what the copies of unfinished relays have in the spool.
  func loadRelays() async throws {
    for copy in try await store.relayCopies() {
      runner.space.hold(max(copy.bytes, copy.total ?? 0), for: copy.job)
    }
  }

  /// Decides what the end of a relay's transfer means for the relay.
  func settleRelay(_ verdict: inout AttemptVerdict, _ response: AttemptResponse, _ phase: RelayPhase, _ id: JobID) {
    // A target that is full is no matter of the spool.
    let isWaiting = phase == .download && verdict.isWaitingForRoom
    let keepsBytes = !isWaiting || runner.space.keepsBytes(whileWaiting: id)
    verdict.settleRelay(response, phase, keepsBytes: keepsBytes, limit: runner.space.limit)
  }

  /// Notes what the relay has in the spool now.
  func holdCopy(_ verdict: AttemptVerdict, _ phase: RelayPhase, _ id: JobID) {
    let isWaiting = phase == .download && verdict.isWaitingForRoom
    runner.space.hold(verdict.copyBytes(of: phase) ?? 0, for: id, isWaiting: isWaiting)
  }

  /// The upload of a relay may begin: it may be in a line behind another upload.
  func uploadBegins() async {
    try? await loadBlockingUploads()
    wake()
    // It has found room; perhaps there is more.
    await spoolFreed()
  }

  /// There is room in the spool again: the first relays that wait for it look at once. Each that has found room wakes
  /// more when its upload begins, and when it ends.
  func spoolFreed() async {
    do {
      if try await store.makeRelayRetriesDue(limit: 8, at: Date()) > 0 { wake() }
    } catch {
      logger.warning("cannot wake relays that wait for the spool", metadata: ["error": "\(error)"])
    }
  }

  /// Other rules for disks and the spool apply: all jobs that wait for space look at once.
  func storageChanged() async {
    do {
      if try await store.makeDiskRetriesDue(at: Date()) > 0 { wake() }
    } catch {
      logger.warning("cannot wake jobs that wait for space", metadata: ["error": "\(error)"])
    }
  }

  /// Deletes the copy of a relay that has ended.
  func removeCopy(of record: JobRecord) async {
    await runner.removePartFiles(of: [record])
    await spoolFreed()
  }
}
