import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import TransferEngine

@Suite(.timeLimit(.minutes(5))) struct InterceptorTests {
  static let payload = Payload(size: 1 << 20)

  /// Adds a number to each attempt, and retries without a delay.
  private final class Numbering: RequestInterceptor {
    let attempts = Atomic(0)
    let retries = Mutex<[Int]>([])

    func adapt(_ request: TransferRequest, for session: Session) async throws -> TransferRequest {
      var request = request
      request.headers[HTTPField.Name("X-Attempt")!] = String(attempts.add(1, ordering: .relaxed).newValue)
      return request
    }

    func retry(
      _ request: TransferRequest, for session: Session, dueTo error: TransferError, retryCount: Int
    ) async -> RetryResult {
      retries.withLock { $0.append(retryCount) }
      return .retry
    }
  }

  @Test("a retry continues where the last attempt ended, and is adapted again")
  func resumes() async throws {
    let server = try LoopbackServer(.file(Self.payload).dropping(after: 300_000, on: .first(3)))
    let fixture = try DownloadFixture()
    let numbering = Numbering()
    let response = try await fixture.download(server, interceptor: numbering).response()
    #expect(response.isSuccess)
    #expect(server.requests.map(\.range) == [nil, "300000-", "600000-", "900000-"])
    #expect(server.requests.map { $0.headers["X-Attempt"] } == ["1", "2", "3", "4"])
    // Each attempt made progress, so none counts as a retry.
    #expect(numbering.retries.withLock { $0 } == [0, 0, 0])
    #expect(response.bytesReceived == Self.payload.size)
    #expect(response.resumedFrom == 900_000)
    try fixture.expectOnly(Self.payload)
  }

  @Test("attempts without progress are counted and limited")
  func counted() async throws {
    let server = try LoopbackServer(.file(Self.payload).failing(503))
    let fixture = try DownloadFixture()
    let response = try await fixture.download(server, interceptor: .atOnce(3)).response()
    #expect(response.error?.status == 503)
    #expect(server.requests.count == 4)
  }

  @Test("permanent failures are not retried", arguments: [400, 401, 403, 404, 410])
  func permanent(_ status: Int) async throws {
    let server = try LoopbackServer(.file(Self.payload).failing(status))
    let fixture = try DownloadFixture()
    #expect(try await fixture.download(server, interceptor: .atOnce(3)).response().error?.status == status)
    #expect(server.requests.count == 1)
  }

  private struct Refusing: RequestInterceptor {
    let error: any Error
    func adapt(_ request: TransferRequest, for session: Session) async throws -> TransferRequest { throw error }
  }

  @Test("an adapter's error ends the request, even if it says cancelled")
  func adapterFails() async throws {
    struct Oops: Error {}
    let server = try LoopbackServer(.file(Self.payload))
    for error in [Oops(), TransferError.cancelled, CancellationError()] as [any Error] {
      let fixture = try DownloadFixture()
      let response = try await fixture.download(server, interceptor: Refusing(error: error)).response()
      guard case .hook(.adapter, _)? = response.error else {
        Issue.record("\(String(describing: response.error))")
        continue
      }
    }
    #expect(server.requests.isEmpty)
  }

  @Test("a download that is cancelled while it waits for a retry ends at once")
  func cancelWhileWaiting() async throws {
    let server = try LoopbackServer(.file(Self.payload).failing(503, retryAfter: .seconds(3600)))
    let recorder = EventRecorder()
    let fixture = try DownloadFixture(Session(eventMonitors: [recorder]))
    let request = try fixture.download(server, interceptor: RetryPolicy()).resume()
    try await recorder.events.wait(for: "the retry") { events in
      events.contains { if case .retry = $0 { true } else { false } } ? () : nil
    }
    request.cancel()
    guard case .cancelled? = await request.response().error else {
      Issue.record("not cancelled")
      return
    }
    #expect(try fixture.names() == [])
  }

  @Test("a download with one retry reports its events in order")
  func events() async throws {
    let server = try LoopbackServer(.file(Self.payload).weakETag().dropping(after: 300_000))
    let recorder = EventRecorder()
    let fixture = try DownloadFixture(Session(eventMonitors: [recorder]))
    #expect(try await fixture.download(server, interceptor: .atOnce(1)).response().isSuccess)
    let words = recorder.events.value.map { "\($0)".prefix { $0 != "(" } }
    #expect(
      words == [
        "resume", "adapt", "send", "receiveHead", "gatherMetrics", "retry", "adapt", "send", "receiveHead",
        "gatherMetrics", "finish",
      ])
  }
}
