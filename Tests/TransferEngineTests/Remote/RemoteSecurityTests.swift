import Foundation
import TestSupport
import Testing

@testable import TransferEngine

@Suite(.timeLimit(.minutes(5))) struct RemoteSecurityTests {
  @Test(
    "a redirect from http to another protocol is refused, even if the session allows file URLs",
    arguments: ["ftp://127.0.0.1/x", "sftp://127.0.0.1/x", "scp://127.0.0.1/x", "file:///etc/passwd", "ftpes://h/x"])
  func redirects(_ target: String) async throws {
    let server = try LoopbackServer { _ in .response(302, headers: ["Location": target]) }
    var configuration = SessionConfiguration()
    configuration.allowsFileURLs = true
    let fixture = try DownloadFixture(Session(configuration: configuration), keeping: [server])
    let download = try await fixture.download(server).response()
    guard case .redirect(.unsupportedScheme)? = download.error else {
      Issue.record("\(String(describing: download.error))")
      return
    }
    let data = await fixture.session.request(try RequestURL(server.url("/"))).response()
    #expect(data.error != nil && data.data?.isEmpty != false)
    #expect(try fixture.names() == [])
  }

  @Test("credentials are sent only to their own origin and appear in no description")
  func credentials() async throws {
    let (first, second) = (try await FTPServer(), try await FTPServer())
    let payload = Payload(size: 1000)
    for server in [first, second] { try payload.write(to: server.root + "/a") }
    let fixture = try DownloadFixture(Session(), keeping: [first, second])
    let request = try TransferRequest.to(first.url("/a"))
    #expect(try await fixture.download(request).response().error == nil)
    #expect(!"\(request) \(request.url)".contains("secret"))
    // The other server gets only the anonymous login.
    let other = try await fixture.download(
      .to(second.url("/a", withCredentials: false)), options: .removePreviousFile
    ).response()
    guard case .remote(.loginDenied)? = other.error else {
      Issue.record("\(String(describing: other.error))")
      return
    }
    try await second.wait(for: "CMD USER anonymous")
    #expect(!second.commands.contains("USER user"))
  }

  @Test("a connection is not used for another user")
  func otherUser() async throws {
    let server = try await FTPServer()
    try Payload(size: 1000).write(to: server.root + "/a")
    let fixture = try DownloadFixture(Session(), keeping: [server])
    #expect(try await fixture.download(.to(server.url("/a"))).response().error == nil)
    let response = try await fixture.download(
      .to("ftp://user:other@127.0.0.1:\(server.port)/a"), options: .removePreviousFile
    ).response()
    #expect(response.error != nil)
  }

  @Test("resume data holds no password")
  func resumeData() async throws {
    var options = FTPServer.Options()
    options.fault = .cut
    options.faultAfter = 1 << 20
    let server = try await FTPServer(options)
    try Payload(size: 2 << 20).write(to: server.root + "/a")
    let fixture = try DownloadFixture(Session(), keeping: [server])
    let response = try await fixture.download(.to(server.url("/a"))).response()
    let data = try #require(response.resumeData)
    #expect(!String(decoding: data.encoded(), as: UTF8.self).contains("secret"))
    #expect(!"\(response)".contains("secret"))
  }
}
