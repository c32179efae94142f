import Foundation
import Glibc
import HTTPTypes
import TestSupport
import Testing

@testable import TransferEngine

@Suite(.timeLimit(.minutes(5))) struct DownloadGroupTests {
  static let payload = Payload(size: 4096)

  @Test("10,000 files arrive, each with one request, over at most 8 connections, and nothing is left beside them")
  func many() async throws {
    let payload = Payload(size: 500)
    let server = try LoopbackServer(.file(payload))
    let fixture = try GroupFixture()
    let responses = await fixture.session.downloads(try fixture.items(server, 0..<10_000)).responses()
    #expect(responses.count == 10_000)
    #expect(responses.values.allSatisfy { $0.isSuccess && $0.verification == .length && $0.bytesOnDisk == 500 })
    #expect(Set(try fixture.names()) == Set((0..<10_000).map(String.init)))
    #expect(server.requests.count == 10_000)
    #expect(server.counters.maxOpenConnections <= 8)
    for tag in stride(from: 0, to: 10_000, by: 997) {
      #expect(try sha256(ofFile: fixture.directory.path("\(tag)")) == payload.sha256)
    }
  }

  @Test("an origin's own limit bounds its connections, and a higher one lets those that wait begin")
  func ownLimit() async throws {
    let server = try LoopbackServer(.file(Self.payload).stallingBeforeAnswer(on: .always))
    let fixture = try GroupFixture()
    let group = fixture.group(connections: 1000)
    let origin = try RequestURL(server.url("/")).origin
    await group.limitConnections(3, origin: origin)
    group.add(try fixture.items(server, 0..<20))
    try await server.waitForRequests(3)
    await group.limitConnections(5, origin: origin)
    try await server.waitForRequests(5)
    group.cancelAll()
    group.finish()
    #expect(await group.responses().count == 20)
    #expect(server.requests.count == 5)
    #expect(server.counters.maxOpenConnections == 5)
  }

  @Test("one group can download small and large files from two servers into several directories")
  func mixed() async throws {
    let sizes: [Int64] = [0, 1, 65_536, 65_537, 1 << 20, (1 << 20) + 1, 5 << 20]
    let payloads = sizes.map { Payload(size: $0, seed: UInt64($0)) }
    let files = Dictionary(
      uniqueKeysWithValues: (0..<70).map { ("/\($0)", FileBehaviour.file(payloads[$0 % payloads.count])) })
    let servers = [try LoopbackServer(files: files), try LoopbackServer(files: files)]
    let fixture = try GroupFixture()
    let group = fixture.group()
    for (number, server) in servers.enumerated() {
      let first = 70 * number
      group.add(
        try fixture.items(server, 0..<70, options: .createIntermediateDirectories) { item in
          item.tag += first
          item.destination.directory += "/\(number)/\(item.tag % 5)"
        })
    }
    group.finish()
    let responses = await group.responses()
    #expect(responses.count == 140)
    for tag in 0..<140 {
      let payload = payloads[tag % 70 % payloads.count]
      let path = fixture.directory.path("\(tag / 70)/\(tag % 5)/\(tag % 70)")
      #expect(responses[tag]?.filePath == path)
      #expect(try sha256(ofFile: path) == payload.sha256)
    }
  }

  @Test("files that arrive during a landing land together in the next one, with one journal call")
  func landsTogether() async throws {
    let server = try LoopbackServer(.file(Self.payload))
    let fixture = try GroupFixture()
    let proceed = Gate()
    let spy = GroupSpy(until: proceed)
    let group = fixture.group(journal: spy)
    group.add(try fixture.items(server, 0..<1))
    try await spy.renames.wait(for: "the first landing") { $0.isEmpty ? nil : () }
    group.add(try fixture.items(server, 1..<65))
    group.finish()
    // All transfers end before the first landing ends.
    try await spy.finished.wait(for: "all bytes") { $0.count == 65 ? () : nil }
    #expect(try fixture.names() == [".0.part"])
    proceed.open()
    let responses = await group.responses()
    #expect(responses.allSucceeded)
    #expect(spy.renames.value.map(\.count) == [1, 64])
    let datas = spy.datas.withLock { $0 }
    for tag in 0..<65 { #expect(datas[tag]?.partialFile.identity == fixture.identity("\(tag)")) }
    #expect(datas.values.allSatisfy { $0.isVerified && $0.checkpointBytes == 4096 && $0.totalBytes == 4096 })
  }

  @Test("a file that lost its claim keeps its part file and is not renamed; the others get their names")
  func lostClaim() async throws {
    let server = try LoopbackServer(.file(Self.payload))
    let fixture = try GroupFixture()
    let spy = GroupSpy { $0 % 3 != 0 }
    let group = fixture.group(journal: spy)
    group.add(try fixture.items(server, 0..<12))
    group.finish()
    let responses = await group.responses()
    for tag in 0..<12 {
      let response = try #require(responses[tag])
      if tag % 3 != 0 {
        #expect(response.isSuccess)
      } else if case .hook(.journal, let error)? = response.error, error is DownloadGroup.LostClaim {
        #expect(response.resumeData?.isVerified == true)
        #expect(FileFacts(fixture.directory.path(".\(tag).part"))?.size == 4096)
        #expect(FileFacts(fixture.directory.path("\(tag)")) == nil)
      } else {
        Issue.record("\(String(describing: response.error))")
      }
    }
  }

  @Test("a journal that throws fails its landing, and the next attempts need no request")
  func journalFails() async throws {
    let server = try LoopbackServer(.file(Self.payload))
    let fixture = try GroupFixture()
    let group = fixture.group(journal: GroupSpy { _ in throw GroupSpy.Refusal() })
    group.add(try fixture.items(server, 0..<8))
    group.finish()
    let responses = await group.responses()
    let again = try fixture.items(server, 0..<8) { $0.resumingWith(responses[$0.tag]?.resumeData) }
    #expect(responses.values.allSatisfy { $0.error?.isTransient == true })
    #expect(await fixture.session.downloads(again).responses().allSucceeded)
    #expect(server.requests.count == 8)
    #expect(Set(try fixture.names()) == Set((0..<8).map(String.init)))
  }

  @Test("a large file in a group uses its own journal, or the group's willRename if it has none")
  func largeFile() async throws {
    let payload = Payload(size: 3 << 20)
    let server = try LoopbackServer(.file(payload))
    let fixture = try GroupFixture()
    let (spy, own) = (GroupSpy(), OwnJournal())
    let group = fixture.group(journal: spy)
    group.add(try fixture.items(server, 0..<2) { if $0.tag == 1 { $0.journal = own } })
    group.finish()
    #expect(await group.responses().allSucceeded)
    #expect(spy.renames.value == [[0]])
    #expect(spy.finished.value == [])
    #expect(own.names.value.first == "record" && own.names.value.last == "willRename")
  }

  private final class OwnJournal: DownloadJournal {
    let names = Watched<[String]>([])
    func record(_ data: ResumeData) async throws { names.mutate { $0.append("record") } }
    func willRename(_ data: ResumeData) async throws { names.mutate { $0.append("willRename") } }
  }

  @Test("an existing destination is not changed, and its download is not requested")
  func taken() async throws {
    let server = try LoopbackServer(.file(Self.payload))
    let fixture = try GroupFixture()
    try fixture.directory.file("3", text: "mine")
    let responses = await fixture.session.downloads(try fixture.items(server, 0..<6)).responses()
    guard case .file(.destinationExists)? = responses[3]?.error else {
      Issue.record("\(String(describing: responses[3]))")
      return
    }
    #expect(responses.successes == 5)
    #expect(try String(contentsOfFile: fixture.directory.path("3"), encoding: .utf8) == "mine")
    #expect(!server.requests.contains { $0.path == "/3" })
    #expect(try fixture.names().count == 6)
  }

  @Test("a file that appears before the rename is not replaced, and the download returns resume data")
  func appears() async throws {
    let server = try LoopbackServer(.file(Self.payload))
    let fixture = try GroupFixture()
    let proceed = Gate()
    let spy = GroupSpy(until: proceed)
    let group = fixture.group(journal: spy)
    group.add(try fixture.items(server, 0..<2))
    group.finish()
    try await spy.renames.wait(for: "the first landing") { $0.isEmpty ? nil : () }
    let tag = try #require(spy.renames.value.first?.first)
    try fixture.directory.file("\(tag)", text: "mine")
    proceed.open()
    let responses = await group.responses()
    guard case .file(.destinationExists)? = responses[tag]?.error else {
      Issue.record("\(String(describing: responses[tag]))")
      return
    }
    #expect(responses[1 - tag]?.isSuccess == true)
    #expect(responses[tag]?.resumeData?.isVerified == true)
    #expect(try String(contentsOfFile: fixture.directory.path("\(tag)"), encoding: .utf8) == "mine")
  }

  @Test("only one of two downloads to the same name succeeds")
  func sameName() async throws {
    let server = try LoopbackServer(.file(Self.payload))
    let fixture = try GroupFixture()
    let responses = await fixture.session.downloads(
      try fixture.items(server, 0..<2) { $0.destination.name = "same" }
    ).responses()
    #expect(responses.successes == 1)
    #expect(try sha256(ofFile: fixture.directory.path("same")) == Self.payload.sha256)
  }

  @Test("a replaced file keeps its permissions")
  func replaced() async throws {
    let server = try LoopbackServer(.file(Self.payload))
    let fixture = try GroupFixture()
    try fixture.directory.file("0", text: "old")
    chmod(fixture.directory.path("0"), 0o640)
    let responses = await fixture.session.downloads(try fixture.items(server, 0..<2, options: .removePreviousFile))
      .responses()
    #expect(responses.allSucceeded)
    #expect(FileFacts(fixture.directory.path("0"))?.mode == 0o640)
    #expect(FileFacts(fixture.directory.path("1"))?.mode == FileMode.ordinary)
    #expect(try sha256(ofFile: fixture.directory.path("0")) == Self.payload.sha256)
  }

  @Test("a full disk fails only the files that do not fit, and they leave no part file")
  func fullDisk() async throws {
    let payload = Payload(size: 100_000)
    let server = try LoopbackServer(.file(payload))
    let fixture = try GroupFixture()
    let disk = try await SmallDisk(at: try fixture.directory.directory("disk"), kibibytes: 1024)
    let responses = await fixture.session.downloads(try fixture.items(server, 0..<20, in: disk.path)).responses()
    let whole = responses.filter { $0.value.isSuccess }.keys
    #expect((1..<11).contains(whole.count))
    for response in responses.values where !response.isSuccess {
      guard case .file(.diskFull)? = response.error else {
        Issue.record("\(String(describing: response.error))")
        continue
      }
      #expect(response.error?.isTransient == true)
    }
    #expect(Set(try fixture.directory.names(in: "disk")) == Set(whole.map(String.init)))
    for tag in whole { #expect(try sha256(ofFile: disk.path + "/\(tag)") == payload.sha256) }
    try await disk.resize(kibibytes: 8192)
    let rest = try fixture.items(server, 0..<20, in: disk.path).filter { !whole.contains($0.tag) }
    #expect(await fixture.session.downloads(rest).responses().allSucceeded)
    try await disk.unmount()
  }

  @Test("interceptors adapt and retry downloads of a group")
  func interceptors() async throws {
    let server = try LoopbackServer(.file(Self.payload).requiring("X-Key", "1").failing(503, on: .first(1)))
    let fixture = try GroupFixture()
    let adapter = Adapter { request, _ in
      var request = request
      request.headers[HTTPField.Name("X-Key")!] = "1"
      return request
    }
    let interceptor = Interceptor(adapters: [adapter], retriers: [RetryPolicy.atOnce(2)])
    let responses = await fixture.session.downloads(try fixture.items(server, 0..<3) { $0.interceptor = interceptor })
      .responses()
    #expect(responses.allSucceeded)
    #expect(server.requests.count == 4)
  }

  @Test("a download in a group resumes from its resume data")
  func resumes() async throws {
    let payload = Payload(size: 200_000)
    let server = try LoopbackServer(.file(payload).dropping(after: 150_000))
    let fixture = try GroupFixture()
    let first = await fixture.session.downloads(try fixture.items(server, 0..<1)).responses()
    let data = try #require(first[0]?.resumeData)
    let second = await fixture.session.downloads(try fixture.items(server, 0..<1) { $0.resumingWith(data) }).responses()
    #expect(second[0]?.resumedFrom == 150_000)
    #expect(try sha256(ofFile: fixture.directory.path("0")) == payload.sha256)
  }

  @Test("monitors get the events of a single download, in the same order", arguments: [4096, 2 << 20] as [Int64])
  func events(_ size: Int64) async throws {
    let server = try LoopbackServer(.file(size: size))
    func names(_ run: (GroupFixture) async throws -> Void) async throws -> [String] {
      let recorder = EventRecorder()
      try await run(try GroupFixture(Session(eventMonitors: [recorder])))
      return recorder.events.value.map { String("\($0)".prefix { $0 != "(" }) }
    }
    let single = try await names { fixture in
      let item = try fixture.items(server, 0..<1)[0]
      _ = await fixture.session.download(item.request, to: item.destination).response()
    }
    let group = try await names { fixture in
      _ = await fixture.session.downloads(try fixture.items(server, 0..<1)).responses()
    }
    #expect(group == single)
  }

  @Test("a group can be created from an array of URLs and destinations")
  func convenience() async throws {
    let server = try LoopbackServer(.file(Self.payload))
    let fixture = try GroupFixture()
    let files: [(any URLConvertible, to: DownloadDestination)] = [
      (server.url("/a"), to: DownloadDestination(directory: fixture.directory.path, name: "a")),
      ("no URL", to: DownloadDestination(directory: fixture.directory.path, name: "b")),
      (URL(string: server.url("/c"))!, to: DownloadDestination(directory: fixture.directory.path, name: "c")),
    ]
    let responses = await fixture.session.downloads(files).responses()
    #expect(responses[0]?.isSuccess == true && responses[2]?.isSuccess == true)
    guard case .invalidURL? = responses[1]?.error else {
      Issue.record("\(String(describing: responses[1]))")
      return
    }
    #expect(try fixture.names() == ["a", "c"])
  }

  @Test("an empty group ends at once; a group without an end gives outcomes as they come")
  func sequence() async throws {
    let server = try LoopbackServer(.file(Self.payload))
    let fixture = try GroupFixture()
    #expect(await fixture.session.downloads([GroupDownload]()).responses().isEmpty)
    let group = fixture.group()
    var iterator = group.makeAsyncIterator()
    for tag in 0..<3 {
      group.add(try fixture.items(server, tag..<tag + 1))
      let outcomes = await iterator.next()
      #expect(outcomes?.map(\.tag) == [tag])
    }
    group.finish()
    let end = await iterator.next()
    #expect(end?.count == nil)
  }

  @Test("a cancelled iteration ends, and the downloads continue")
  func cancelledIteration() async throws {
    let (reached, proceed) = (Gate(), Gate())
    let server = try LoopbackServer(.file(Self.payload).holding(after: 100, reached: reached, until: proceed))
    let fixture = try GroupFixture()
    let group = fixture.session.downloads(try fixture.items(server, 0..<1))
    let task = Task { await group.responses().count }
    try await reached.wait()
    task.cancel()
    #expect(await task.value == 0)
    proceed.open()
    #expect(await group.responses()[0]?.isSuccess == true)
  }
}

extension GroupDownload {
  mutating func resumingWith(_ data: ResumeData?) { resumeData = data?.encoded() }
}
