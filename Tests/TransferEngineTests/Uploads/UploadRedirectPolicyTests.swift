import HTTPTypes
import TestSupport
import Testing

@testable import TransferEngine

/// URLs that upload servers return.
@Suite(.timeLimit(.minutes(5))) struct UploadRedirectPolicyTests {
  private static let size: Int64 = 3 << 20

  private static func upload(
    _ fixture: UploadFixture, _ url: String, _ way: UploadProtocol, _ policy: RedirectPolicy
  ) throws -> FileUpload {
    var upload = try fixture.upload(to: url, by: way)
    upload.request.redirects = policy
    return upload
  }

  @Test(
    "the policy applies to the Location of a tus upload", arguments: [RedirectPolicy.public, .sameOrigin])
  func tus(_ policy: RedirectPolicy) async throws {
    let target = try ScriptedTus()
    let location = target.server.url("/files/u0")
    let tus = try ScriptedTus { request, _ in request.method == "POST" ? .location(location) : nil }
    let fixture = try UploadFixture(size: Self.size)
    let response = await fixture.send(try Self.upload(fixture, tus.url, .tus(TusOptions()), policy))
    #expect(word(response.error) == "redirect")
    #expect(target.server.counters.connections == 0)
  }

  @Test("the policy applies to the Location of a resumable upload", arguments: [RedirectPolicy.public, .any])
  func resumable(_ policy: RedirectPolicy) async throws {
    // The connection breaks after the server has sent the upload's URL. The next request would go to that URL.
    let server = try ScriptedResumable { request, number in
      request.path == "/target" && number == 0 ? .take(2 << 20, then: [.reset]) : nil
    }
    let fixture = try UploadFixture(size: Self.size)
    var upload = try Self.upload(fixture, server.url, .resumable, policy)
    upload.interopVersion = 8
    let journal = UploadRecorder()
    let first = await fixture.send(upload, journal: journal)
    #expect(word(first.error) == "broken")
    let ledger = try #require(journal.last)
    let second = await fixture.send(upload, resumingWith: ledger)
    #expect(word(second.error) == (policy == .any ? "success" : "redirect"))
    #expect(server.requests("HEAD").isEmpty == (policy != .any))
  }

  @Test("the policy applies to a 307 response to a plain upload", arguments: [RedirectPolicy.public, .sameOrigin])
  func plain(_ policy: RedirectPolicy) async throws {
    let target = try LoopbackServer { _ in .response(201) }
    let server = try LoopbackServer { _ in .response(307, headers: ["Location": target.url("/x")]) }
    let fixture = try UploadFixture(size: 1000)
    let response = await fixture.send(try Self.upload(fixture, server.url("/a"), .plain, policy))
    #expect(word(response.error) == "redirect")
    #expect(target.counters.connections == 0)
  }

  @Test("requiresPublicAddress refuses an upload to this machine")
  func firstURL() async throws {
    let server = try LoopbackServer { _ in .response(201) }
    let fixture = try UploadFixture(size: 1000)
    for (url, way) in [
      (server.url("/a"), UploadProtocol.plain), (server.url("/a"), .automatic), (server.url("/a"), .webDAV),
      (server.url("/a"), .tus(TusOptions())), ("ftp://127.0.0.1:\(server.port)/a", .automatic),
    ] {
      var upload = try fixture.upload(to: url, by: way)
      upload.request.requiresPublicAddress = true
      let response = await fixture.send(upload)
      guard case .connection(.addressRefused)? = response.error else {
        Issue.record("\(way): \(String(describing: response.error))")
        continue
      }
    }
    #expect(server.counters.connections == 0)
  }

  @Test("an invalid region in a server's response is ignored", arguments: ["evil.test/", "a@b", "x\u{00E9}", ""])
  func region(_ region: String) {
    var head = ResponseHead(status: 301)
    head.headers[HTTPField.Name("x-amz-bucket-region")!] = region
    #expect(S3Failure(UploadResponse()).region(head) == nil)
  }
}
