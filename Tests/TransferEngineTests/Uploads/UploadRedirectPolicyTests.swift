import HTTPTypes
import TestSupport
import Testing

@testable import TransferEngine

/// URLs that servers of uploads name.
@Suite(.timeLimit(.minutes(5))) struct UploadRedirectPolicyTests {
  private static let size: Int64 = 3 << 20

  private static func upload(
    _ room: UploadRoom, _ url: String, _ way: UploadProtocol, _ policy: RedirectPolicy
  ) throws -> FileUpload {
    var upload = try room.upload(to: url, by: way)
    upload.request.redirects = policy
    return upload
  }

  @Test(
    "a tus server cannot have the file sent elsewhere", arguments: [RedirectPolicy.public, .sameOrigin])
  func tus(_ policy: RedirectPolicy) async throws {
    let target = try ScriptedTus()
    let location = target.server.url("/files/u0")
    let tus = try ScriptedTus { request, _ in request.method == "POST" ? .location(location) : nil }
    let room = try UploadRoom(size: Self.size)
    let response = await room.send(try Self.upload(room, tus.url, .tus(TusOptions()), policy))
    #expect(word(response.error) == "redirect")
    #expect(target.server.counters.connections == 0)
  }

  @Test("a resumable upload's Location is held to the policy", arguments: [RedirectPolicy.public, .any])
  func resumable(_ policy: RedirectPolicy) async throws {
    // The connection breaks after the server has named the upload's URL; that URL is asked how much it has.
    let server = try ScriptedResumable { request, number in
      request.path == "/target" && number == 0 ? .take(2 << 20, then: [.reset]) : nil
    }
    let room = try UploadRoom(size: Self.size)
    var upload = try Self.upload(room, server.url, .resumable, policy)
    upload.interopVersion = 8
    let journal = UploadRecorder()
    let first = await room.send(upload, journal: journal)
    #expect(word(first.error) == "broken")
    let ledger = try #require(journal.last)
    let second = await room.send(upload, resumingWith: ledger)
    #expect(word(second.error) == (policy == .any ? "success" : "redirect"))
    #expect(server.requests("HEAD").isEmpty == (policy != .any))
  }

  @Test("a plain upload's 307 is held to the policy", arguments: [RedirectPolicy.public, .sameOrigin])
  func plain(_ policy: RedirectPolicy) async throws {
    let target = try LoopbackServer { _ in .response(201) }
    let server = try LoopbackServer { _ in .response(307, headers: ["Location": target.url("/x")]) }
    let room = try UploadRoom(size: 1000)
    let response = await room.send(try Self.upload(room, server.url("/a"), .plain, policy))
    #expect(word(response.error) == "redirect")
    #expect(target.counters.connections == 0)
  }

  @Test("an upload to this machine is refused where only public addresses are permitted")
  func firstURL() async throws {
    let server = try LoopbackServer { _ in .response(201) }
    let room = try UploadRoom(size: 1000)
    for (url, way) in [
      (server.url("/a"), UploadProtocol.plain), (server.url("/a"), .automatic), (server.url("/a"), .webDAV),
      (server.url("/a"), .tus(TusOptions())), ("ftp://127.0.0.1:\(server.port)/a", .automatic),
    ] {
      var upload = try room.upload(to: url, by: way)
      upload.request.requiresPublicAddress = true
      let response = await room.send(upload)
      guard case .connection(.addressRefused)? = response.error else {
        Issue.record("\(way): \(String(describing: response.error))")
        continue
      }
    }
    #expect(server.counters.connections == 0)
  }

  @Test("what a server says of its region cannot name a host", arguments: ["evil.test/", "a@b", "x\u{00E9}", ""])
  func region(_ region: String) {
    var head = ResponseHead(status: 301)
    head.headers[HTTPField.Name("x-amz-bucket-region")!] = region
    #expect(S3Failure(UploadResponse()).region(head) == nil)
  }
}
