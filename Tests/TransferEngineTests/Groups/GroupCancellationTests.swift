import Foundation
import TestSupport
import Testing

@testable import TransferEngine

@Suite(.timeLimit(.minutes(5))) struct GroupCancellationTests {
  static let payload = Payload(size: 200_000)

  @Test("a download that waits for a connection can be cancelled")
  func waiting() async throws {
    let (reached, proceed) = (Gate(), Gate())
    let server = try LoopbackServer(.file(Self.payload).holding(after: 1000, reached: reached, until: proceed))
    let fixture = try GroupFixture()
    let group = fixture.group(connections: 1)
    group.add(try fixture.items(server, 0..<600))
    group.finish()
    try await reached.wait()
    // The last downloads are not prepared yet.
    for tag in 1..<600 { group.cancel(tag, producingResumeData: tag % 2 == 0) }
    var iterator = group.makeAsyncIterator()
    var ended = 0
    while ended < 599, let outcomes = await iterator.next() {
      for outcome in outcomes { #expect(outcome.response.error?.isCancellation == true) }
      ended += outcomes.count
    }
    proceed.open()
    let last = await iterator.next()
    #expect(last?.first?.response.isSuccess == true)
    #expect(server.requests.count == 1)
    #expect(try fixture.names() == ["0"])
  }

  @Test(
    "a download that is cancelled in mid-body keeps its bytes only with producingResumeData", arguments: [true, false])
  func running(keepsBytes: Bool) async throws {
    let proceed = Gate()
    let server = try LoopbackServer(.file(Self.payload).holding(after: 150_000, until: proceed))
    let fixture = try GroupFixture()
    let group = fixture.session.downloads(try fixture.items(server, 0..<1))
    while group.progress(0)?.completed != 150_000 { await fixture.session.ping() }
    #expect(group.progress(0)?.total == Self.payload.size)
    group.cancel(0, producingResumeData: keepsBytes)
    let response = try #require(await group.responses()[0])
    #expect(response.error?.isCancellation == true)
    #expect(group.progress(0) == nil)
    proceed.open()
    guard keepsBytes else {
      #expect(response.resumeData == nil)
      #expect(try fixture.names() == [])
      return
    }
    #expect(response.resumeData?.checkpointBytes == 150_000)
    let again = try fixture.items(server, 0..<1) { $0.resumingWith(response.resumeData) }
    #expect(await fixture.session.downloads(again).responses()[0]?.resumedFrom == 150_000)
    #expect(try sha256(ofFile: fixture.directory.path("0")) == Self.payload.sha256)
  }

  @Test("a large file cancels like a single download", arguments: [true, false])
  func left(keepsBytes: Bool) async throws {
    let payload = Payload(size: 3 << 20)
    let proceed = Gate()
    let server = try LoopbackServer(.file(payload).holding(after: 2 << 20, until: proceed))
    let fixture = try GroupFixture()
    let group = fixture.session.downloads(try fixture.items(server, 0..<1))
    while group.progress(0)?.completed != 2 << 20 { await fixture.session.ping() }
    group.cancel(0, producingResumeData: keepsBytes)
    let response = try #require(await group.responses()[0])
    proceed.open()
    #expect(response.error?.isCancellation == true)
    #expect(response.resumeData?.checkpointBytes == (keepsBytes ? 2 << 20 : nil))
    #expect(try fixture.names() == (keepsBytes ? [".0.part"] : []))
  }

  @Test(
    "a download that is cancelled before its landing keeps its bytes only with producingResumeData",
    arguments: [true, false])
  func arrived(keepsBytes: Bool) async throws {
    let server = try LoopbackServer(.file(Self.payload))
    let fixture = try GroupFixture()
    let proceed = Gate()
    let spy = GroupSpy(until: proceed)
    let group = fixture.group(journal: spy)
    group.add(try fixture.items(server, 0..<1))
    try await spy.renames.wait(for: "the first landing") { $0.isEmpty ? nil : () }
    group.add(try fixture.items(server, 1..<2))
    group.finish()
    try await spy.finished.wait(for: "the second file's bytes") { $0.contains(1) ? () : nil }
    group.cancelAll(producingResumeData: keepsBytes)
    await fixture.session.ping()
    proceed.open()
    let responses = await group.responses()
    // The first download was being renamed already.
    #expect(responses[0]?.isSuccess == true)
    #expect(responses[1]?.error?.isCancellation == true)
    #expect(responses[1]?.resumeData?.checkpointBytes == (keepsBytes ? Self.payload.size : nil))
    #expect(try fixture.names() == (keepsBytes ? [".1.part", "0"] : ["0"]))
    guard let data = responses[1]?.resumeData else { return }
    let again = try fixture.items(server, 1..<2) { $0.resumingWith(data) }
    #expect(await fixture.session.downloads(again).responses()[1]?.isSuccess == true)
    #expect(server.requests.count == 2)
  }

  @Test("a download that is cancelled at any moment ends once and leaves no incomplete file")
  func anyMoment() async throws {
    let payload = Payload(size: 20_000)
    let server = try LoopbackServer(.file(payload))
    for round in 0..<20 {
      let fixture = try GroupFixture()
      let group = fixture.session.downloads(try fixture.items(server, 0..<200))
      var responses: [Int: FileResponse] = [:]
      for await outcomes in group {
        for outcome in outcomes { responses[outcome.tag] = outcome.response }
        if responses.count > round * 10 { group.cancelAll(producingResumeData: round % 2 == 0) }
      }
      #expect(responses.count == 200)
      for name in try fixture.names() where !name.hasPrefix(".") {
        #expect(try sha256(ofFile: fixture.directory.path(name)) == payload.sha256)
      }
      for (tag, response) in responses {
        #expect(response.isSuccess || response.error?.isCancellation == true)
        #expect((FileFacts(fixture.directory.path("\(tag)")) != nil) == response.isSuccess)
        #expect((FileFacts(fixture.directory.path(".\(tag).part")) != nil) == (response.resumeData != nil))
      }
    }
  }

  @Test("cancelAllRequests cancels download groups too and reports when they have ended")
  func session() async throws {
    let (reached, proceed, ended) = (Gate(), Gate(), Gate())
    let server = try LoopbackServer(.file(Self.payload).holding(after: 1000, reached: reached, until: proceed))
    let fixture = try GroupFixture()
    let group = fixture.session.downloads(try fixture.items(server, 0..<300), maximumConnections: 1)
    try await reached.wait()
    fixture.session.cancelAllRequests { ended.open() }
    try await ended.wait()
    let responses = await group.responses()
    let cancelled = responses.values.filter { $0.error?.isCancellation == true }
    #expect(cancelled.count == 300)
    #expect(try fixture.names() == [])
    proceed.open()
  }
}
