import Foundation
import TestSupport
import Testing

@testable import TransferEngine

@Suite(.timeLimit(.minutes(5))) struct RequestLifeTests {
  @Test("calls of resume, suspend and cancel from many threads lead to one final state and one response")
  func storm() async throws {
    let payload = Payload(size: 300_000)
    let server = try LoopbackServer(.file(payload))
    let recorder = EventRecorder()
    let session = Session(eventMonitors: [recorder])
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<60 {
        let request = session.request(server.url("/"))
        let calls = Watched(0)
        request.response { _ in calls.mutate { $0 += 1 } }
        for step in 0..<12 {
          group.addTask {
            switch (step + number) % 3 {
            case 0: request.suspend()
            case 1 where number % 4 == 0 && step > 6: request.cancel()
            default: request.resume()
            }
          }
        }
        group.addTask {
          await Task.yield()
          request.resume()
          let response = await self.ending(of: request)
          switch request.state {
          case .finished: #expect(response.data.map { sha256(of: $0) } == payload.sha256)
          case .cancelled: #expect(response.error?.code == .cancelled || response.error == nil)
          default: Issue.record("left in \(request.state)")
          }
          try await calls.wait(for: "the handler") { $0 > 0 ? () : nil }
          #expect(calls.value == 1)
        }
      }
      try await group.waitForAll()
    }
    for id in Set(recorder.all.value.map(\.0)) {
      let ends = recorder.all.value.filter { event in
        guard event.0 == id else { return false }
        switch event.1 {
        case .finish, .fail: return true
        default: return false
        }
      }
      #expect(ends.count == 1)
    }
    #expect(session.withAllRequests { $0.isEmpty })
  }

  /// Resumes the request until it ends, because another task may suspend it after each resume.
  private func ending(of request: DataRequest) async -> DataResponse<Data?, TransferError> {
    let nudge = Task {
      while !Task.isCancelled, request.state != .finished, request.state != .cancelled {
        request.resume()
        try? await Task.sleep(for: .milliseconds(5))
      }
    }
    defer { nudge.cancel() }
    return await request.response()
  }

  @Test("a suspended request pauses its transfer and continues on the same connection")
  func suspend() async throws {
    let payload = Payload(size: 40 << 20)
    let half = payload.size / 2
    let suspended = Gate()
    // The server sends the second half only after the request is suspended.
    let server = try LoopbackServer { _ in
      [
        .status(200, headers: ["Content-Length": String(payload.size)]), .bodyFrom(payload, 0..<half),
        .waitFor(suspended), .bodyFrom(payload, half..<payload.size), .keepAlive,
      ]
    }
    let small = try LoopbackServer(.file(size: 2 << 20))
    let session = Session()
    let request = session.request(server.url("/"))
    let arrived = Watched<Int64>(0)
    request.downloadProgress { progress in arrived.mutate { $0 = progress.completed } }
    request.resume()
    try await arrived.wait(for: "the first half") { $0 == half ? () : nil }
    request.suspend()
    await session.ping()
    // The suspend is processed before this later transfer ends.
    #expect(await session.request(small.url("/")).response().error == nil)
    suspended.open()
    // These transfers in the same loop give the request enough time to continue, if it did not stop.
    for _ in 0..<5 { #expect(await session.request(small.url("/")).response().error == nil) }
    #expect(arrived.value == half)
    request.resume()
    let response = await request.response()
    #expect(response.data.map { sha256(of: $0) } == payload.sha256)
    #expect(response.metrics.count == 1)
  }

  @Test("a suspended request that is cancelled ends at once")
  func suspendThenCancel() async throws {
    let server = try LoopbackServer(.file(size: 50 << 20).stalling(after: 1 << 20))
    let request = Session().request(server.url("/")).resume()
    try await server.waitForRequests(1)
    request.suspend()
    request.cancel()
    #expect(await request.response().error?.code == .cancelled)
    try await server.waitForCounters { $0.openConnections == 0 }
  }

  @Test("a session lists its running requests and can cancel all of them")
  func cancelAll() async throws {
    let server = try LoopbackServer { _ in [.stall] }
    let session = Session()
    let fixture = try DownloadFixture(session)
    let upload = session.upload(Data("x".utf8), to: server.url("/"))
    let requests: [any Request] = [
      session.request(server.url("/")), upload, session.streamRequest(server.url("/")), try fixture.download(server),
    ]
    for request in requests { request.resume() }
    try await server.waitForRequests(4)
    #expect(session.withAllRequests { $0.map(\.id) } == requests.map(\.id).sorted { $0.rawValue < $1.rawValue })
    let done = Gate()
    session.cancelAllRequests { done.open() }
    try await done.wait()
    #expect(requests.allSatisfy { $0.isCancelled })
    #expect(await upload.response().error?.code == .cancelled)
    #expect(session.withAllRequests { $0.isEmpty })
    try await server.waitForCounters { $0.openConnections == 0 }
  }

  @Test("a stream of progress ends with the request, and a late stream gets the final progress")
  func progressStream() async throws {
    let payload = Payload(size: 3 << 20)
    let server = try LoopbackServer(.file(payload))
    let request = Session().request(server.url("/"))
    var last = TransferProgress()
    let progress = request.downloadProgress()
    request.resume()
    for await step in progress {
      #expect(step.completed >= last.completed)
      last = step
    }
    #expect(last == TransferProgress(completed: payload.size, total: payload.size))
    #expect(last.fractionCompleted == 1)
    _ = await request.response()
    var late: [TransferProgress] = []
    for await step in request.downloadProgress() { late.append(step) }
    #expect(late == [last])
  }
}
