import Foundation
import TestSupport
import Testing

@testable import TransferEngine

@Suite(.timeLimit(.minutes(5))) struct CancellationTests {
  static let payload = Payload(size: 400_000)

  @Test("started and cancelled a hundred times: a part file exists exactly if there is resume data for it")
  func storm() async throws {
    let server = try LoopbackServer(.file(Self.payload).dripping(bytesPerSecond: 2_000_000, after: 100_000))
    let room = try DownloadRoom()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<100 {
        let begun = Watched(false)
        let name = "\(number)"
        let request = try room.download(
          .of(server), to: room.directory.path(name), partialName: ".\(name).part"
        ).downloadProgress { progress in begun.mutate { $0 = $0 || progress.completed > 0 } }
        group.addTask {
          if number % 4 != 3 { request.resume() }
          // Those that wait for a byte are as many and sure to come; others may be cancelled before they are sent.
          if number % 4 == 1 { try await server.waitForRequests(number / 4) }
          if number % 4 == 2 { try await begun.wait(for: "a byte") { $0 ? () : nil } }
          let data = await request.cancelProducingResumeData()
          let part = FileFacts(room.directory.path(".\(name).part"))
          #expect((part != nil) == (data != nil))
          if let data { #expect(ResumeData(data)?.checkpointBytes == part?.size) }
          if await request.response().isSuccess { return }
          #expect(FileFacts(room.directory.path(name)) == nil)
          // A caller that does not resume removes the part file; nothing else is left.
          PartialFiles.remove(".\(name).part", in: room.directory.path)
        }
      }
      try await group.waitForAll()
    }
    for name in try room.names() { #expect(!name.hasSuffix(".part") && !name.hasSuffix(".new")) }
    try await server.waitForCounters { $0.openRequests == 0 }
  }

  @Test("cancelled before it began: no request, no file")
  func early() async throws {
    let server = try LoopbackServer(.file(Self.payload))
    let room = try DownloadRoom()
    let request = try room.download(server)
    request.cancel()
    guard case .cancelled? = await request.response().error else {
      Issue.record("not cancelled")
      return
    }
    #expect(request.state == .cancelled)
    #expect(server.requests.isEmpty)
    #expect(try room.names() == [])
  }

  @Test("cancelling what is finished changes nothing")
  func late() async throws {
    let server = try LoopbackServer(.file(Self.payload))
    let room = try DownloadRoom()
    let request = try room.download(server)
    #expect(await request.response().isSuccess)
    request.cancel()
    #expect(request.state == .finished)
    #expect(await request.cancelProducingResumeData() == nil)
    try room.expectOnly(Self.payload)
  }

  @Test("cancelled while HEAD is asked for the length: ends at once, without a file")
  func whileComparing() async throws {
    let asked = Gate()
    let server = try LoopbackServer(
      .file(Self.payload).withoutContentLength().answering(
        on: When { request, _ in request.method == "HEAD" }
      ) { answer, _ in
        answer.instead = [.signal(asked), .stall]
      })
    let room = try DownloadRoom()
    let request = try room.download(server).resume()
    try await asked.wait()
    request.cancel(producingResumeData: true)
    let response = await request.response()
    guard case .cancelled? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
    #expect(FileFacts(room.path) == nil)
    #expect(response.resumeData != nil)
  }

  @Test("many may wait for one outcome")
  func waiters() async throws {
    let server = try LoopbackServer(.file(Self.payload))
    let room = try DownloadRoom()
    let request = try room.download(server)
    await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<50 { group.addTask { await request.response().isSuccess } }
      for await isGood in group { #expect(isGood) }
    }
    #expect(server.requests.count == 1)
  }
}
