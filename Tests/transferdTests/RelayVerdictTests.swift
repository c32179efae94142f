import FoundationEssentials
import Testing
import TransferAPI
import TransferEngine

@testable import Store
@testable import transferd

/// What the end of a transfer means for its relay.
@Suite struct RelayVerdictTests {
  private static func record(_ phase: RelayPhase) -> Settlement {
    Settlement(id: 1, fence: 1, event: .complete, bytesDone: 70, bytesTotal: 70)
  }

  private func verdict(
    _ phase: RelayPhase, _ error: TransferError?, keeps: Bool = false, _ change: (inout Settlement) -> Void = { _ in }
  ) throws -> AttemptVerdict {
    let spec = JobSpec(
      owner: 0, relaying: "https://h/a", origin: "https://h:443", to: "https://t/a", .init(otherOrigin: "https://t:443")
    )
    let job = Job(
      id: 1, kind: .relay, state: .running, source: "https://h/a", destination: "https://t/a", maxAttempts: 5,
      createdAt: Date(timeIntervalSince1970: 0))
    var record = JobRecord(
      job: job, spec: spec, fence: 1, attemptNumber: 1, partToken: "00000000", crashes: 0, crashMarks: 0,
      retryDelayMilliseconds: 0)
    record.spec.relay?.phase = phase
    let response: AttemptResponse =
      phase == .download
      ? .download(FileResponse(failing: error ?? .cancelled))
      : .upload(FileUploadResponse(failing: error ?? .cancelled))
    var generator = SystemRandomNumberGenerator()
    var verdict = AttemptVerdict(
      response, of: record.leg(copy: "/c"), stop: error == nil ? .pause : nil,
      now: Date(timeIntervalSince1970: 0), using: &generator)
    change(&verdict.settlement)
    verdict.settleRelay(response, phase, keepsBytes: keeps, limit: 100)
    return verdict
  }

  @Test("a complete copy makes the upload begin, with the file's length and none of its bytes sent")
  func begins() {
    var settlement = Settlement(id: 1, fence: 1, event: .complete, bytesDone: 70, bytesTotal: nil)
    AttemptVerdict.beginUpload(&settlement)
    #expect(settlement.event == .requeue && settlement.beginsUpload && settlement.resumeData == .clear)
    #expect(settlement.bytesDone == 0 && settlement.bytesTotal == 70)
  }

  @Test("a file above spoolMax says so, and a smaller limit of the job keeps its own words")
  func tooLarge() throws {
    let ours = try verdict(.download, .file(.tooLarge(limit: 100)))
    #expect(ours.settlement.event == .fail && ours.settlement.failure?.code == .tooLarge)
    #expect(ours.settlement.failure?.message.contains("spoolMax") == true)
    let other = try verdict(.download, .file(.tooLarge(limit: 99)))
    #expect(other.settlement.failure?.message.contains("spoolMax") == false)
  }

  @Test(
    "without room a relay waits, and gives its bytes up unless it is the one that keeps them", arguments: [false, true])
  func noRoom(keeps: Bool) throws {
    let verdict = try verdict(.download, .file(.diskFull("no room")), keeps: keeps) { settlement in
      (settlement.resumeData, settlement.bytesDone) = (.set(Data([1])), 50)
    }
    #expect(verdict.settlement.event == .postpone && verdict.settlement.isUncounted)
    #expect(verdict.removesPartFile == !keeps)
    #expect(verdict.settlement.bytesDone == (keeps ? 50 : 0))
    #expect(verdict.copyBytes(of: .download) == (keeps ? 50 : nil))
  }

  @Test("bytes that the row does not know are deleted; known ones hold the room of the whole file")
  func bytes() throws {
    #expect(try verdict(.download, nil).removesPartFile)
    let paused = try verdict(.download, nil) { settlement in
      (settlement.resumeData, settlement.bytesDone, settlement.bytesTotal) = (.set(Data([1])), 50, 80)
    }
    #expect(paused.settlement.event == .pause && !paused.removesPartFile && paused.copyBytes(of: .download) == 80)
  }

  @Test("the copy of an upload stays until the target has it")
  func upload() throws {
    let failed = try verdict(.upload, .response(.unacceptableStatus(403, retryAfter: nil))) { $0.bytesTotal = 80 }
    #expect(failed.settlement.event == .fail && !failed.removesPartFile && failed.copyBytes(of: .upload) == 80)
  }
}
