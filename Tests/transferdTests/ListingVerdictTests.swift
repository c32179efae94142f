import Foundation
import Store
import Testing

@testable import TransferEngine
@testable import transferd

/// What an attempt of a listing leaves.
@Suite struct ListingVerdictTests {
  private func settlement(
    _ error: TransferError?, _ stop: StopReason? = nil, done: Int = 0, failed: Int = 0
  ) async throws -> Settlement {
    let directory = "/tmp/transferd-listing-\(UInt64.random(in: 0 ... .max))"
    let store = try Store(directory: directory, now: Date(), onEvents: { _ in })
    var spec = JobSpec(owner: 0, url: "http://h/d/", origin: "http://h:80", destination: "/d/")
    (spec.kind, spec.options.maxAttempts) = (.listing, 3)
    let id = try await store.submit([spec], in: .everything, at: Date())[0].get().id
    let record = try await store.claim([id], at: Date())[0]
    var response = ListingResponse(error: error)
    (response.directoriesDone, response.directoriesFailed) = (done, failed)
    (response.sums.directories, response.sums.files, response.sums.refused) = (2, 1, 3)
    var generator = SystemRandomNumberGenerator()
    let verdict = AttemptVerdict(.listing(response), of: record, stop: stop, now: Date(), using: &generator)
    await store.close()
    try? FileManager.default.removeItem(atPath: directory)
    #expect(!verdict.removesPartFile)
    return verdict.settlement
  }

  private static let busy = TransferError.response(.unacceptableStatus(503, retryAfter: nil))
  private static let forbidden = TransferError.response(.unacceptableStatus(403, retryAfter: nil))

  @Test("a listing that is done says what it has found")
  func completed() async throws {
    let settlement = try await settlement(nil)
    #expect(settlement.event == .complete && settlement.result == .transferred)
    #expect(settlement.reason == "1 file in 2 directories; 3 entries refused")
  }

  @Test("a failure that may pass is tried again, and directories that are done are progress")
  func postponed() async throws {
    let first = try await settlement(Self.busy)
    #expect(first.event == .postpone && !first.resetAttempts && first.failure?.httpStatus == 503)
    let second = try await settlement(Self.busy, done: 1)
    #expect(second.event == .postpone && second.resetAttempts)
  }

  @Test("directories that cannot be listed fail the listing at its end, and the reason counts them")
  func failed() async throws {
    let settlement = try await settlement(Self.forbidden, done: 2, failed: 4)
    #expect(settlement.event == .fail && settlement.failure?.code == .http(403))
    #expect(
      settlement.reason?.hasSuffix("; 4 could not be listed; found 1 file in 2 directories; 3 entries refused") == true)
  }

  @Test("a listing is paused, cancelled and interrupted like any job")
  func stopped() async throws {
    #expect(try await settlement(.cancelled, .pause).event == .pause)
    #expect(try await settlement(.cancelled, .cancel).event == .cancel)
    #expect(try await settlement(.cancelled, .shutdown).event == .requeue)
  }
}
