import Foundation
import TestSupport
import Testing

@testable import TransferEngine

@Suite(.timeLimit(.minutes(5))) struct CancellationTests {
  static let payload = Payload(size: 400_000)

  @Test("after a cancel a part file exists if and only if there is resume data")
  func storm() async throws {
    let server = try LoopbackServer(.file(Self.payload).dripping(bytesPerSecond: 2_000_000, after: 100_000))
    let fixture = try DownloadFixture()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<100 {
        let begun = Watched(false)
        let name = "\(number)"
        let request = try fixture.download(
          .of(server), to: fixture.directory.path(name), partialName: ".\(name).part"
        ).downloadProgress { progress in begun.mutate { $0 = $0 || progress.completed > 0 } }
        group.addTask {
          if number % 4 != 3 { request.resume() }
          // The 25 requests that wait for a byte reach the server; others can be cancelled before they are sent.
          if number % 4 == 1 { try await server.waitForRequests(number / 4) }
          if number % 4 == 2 { try await begun.wait(for: "a byte") { $0 ? () : nil } }
          let data = await request.cancelProducingResumeData()
          let part = FileFacts(fixture.directory.path(".\(name).part"))
          #expect((part != nil) == (data != nil))
          if let data { #expect(ResumeData(data)?.checkpointBytes == part?.size) }
          if await request.response().isSuccess { return }
          #expect(FileFacts(fixture.directory.path(name)) == nil)
          // A caller that does not resume removes the part file; nothing else is left.
          PartialFiles.remove(".\(name).part", in: fixture.directory.path)
        }
      }
      try await group.waitForAll()
    }
    for name in try fixture.names() { #expect(!name.hasSuffix(".part") && !name.hasSuffix(".new")) }
    try await server.waitForCounters { $0.openRequests == 0 }
  }

  @Test("a download that is cancelled before its start sends no request and creates no file")
  func early() async throws {
    let server = try LoopbackServer(.file(Self.payload))
    let fixture = try DownloadFixture()
    let request = try fixture.download(server)
    request.cancel()
    guard case .cancelled? = await request.response().error else {
      Issue.record("not cancelled")
      return
    }
    #expect(request.state == .cancelled)
    #expect(server.requests.isEmpty)
    #expect(try fixture.names() == [])
  }

  @Test("cancelling a finished download changes nothing")
  func late() async throws {
    let server = try LoopbackServer(.file(Self.payload))
    let fixture = try DownloadFixture()
    let request = try fixture.download(server)
    #expect(await request.response().isSuccess)
    request.cancel()
    #expect(request.state == .finished)
    #expect(await request.cancelProducingResumeData() == nil)
    try fixture.expectOnly(Self.payload)
  }

  @Test("a download that is cancelled during its HEAD request ends with resume data and without a file")
  func whileComparing() async throws {
    let asked = Gate()
    let server = try LoopbackServer(
      .file(Self.payload).withoutContentLength().answering(
        on: When { request, _ in request.method == "HEAD" }
      ) { answer, _ in
        answer.instead = [.signal(asked), .stall]
      })
    let fixture = try DownloadFixture()
    let request = try fixture.download(server).resume()
    try await asked.wait()
    request.cancel(producingResumeData: true)
    let response = await request.response()
    guard case .cancelled? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
    #expect(FileFacts(fixture.path) == nil)
    #expect(response.resumeData != nil)
  }

  @Test("50 tasks can await the response of one download")
  func waiters() async throws {
    let server = try LoopbackServer(.file(Self.payload))
    let fixture = try DownloadFixture()
    let request = try fixture.download(server)
    await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<50 { group.addTask { await request.response().isSuccess } }
      for await isGood in group { #expect(isGood) }
    }
    #expect(server.requests.count == 1)
  }
}
