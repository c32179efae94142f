import Foundation
import Glibc
import HTTPTypes
import TestSupport
import Testing

@testable import TransferEngine

@Suite(.timeLimit(.minutes(5))) struct NetrcAdapterTests {
  private static let basic = "Basic \(Data("u:secret".utf8).base64EncodedString())"

  private struct Fixture {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    func netrc(_ text: String) throws -> NetrcAdapter {
      let path = try directory.file("netrc", text: text)
      chmod(path, 0o600)
      return NetrcAdapter(path: path)
    }
  }

  @Test("only the host of the request's own URL is looked up, not the host of a redirect")
  func firstHostOnly() async throws {
    let fixture = try Fixture()
    let target = try LoopbackServer { _ in .response(200) }
    // Both hosts are in the netrc file, but the host of the redirect must not be looked up.
    let server = try LoopbackServer { _ in .redirect(to: "http://localhost:\(target.port)/") }
    let adapter = try fixture.netrc(
      "machine 127.0.0.1 login u password secret\nmachine localhost login other password leaked")
    let session = Session(interceptor: adapter)
    #expect(await session.request(try RequestURL(server.url("/"))).response().error == nil)
    #expect(server.requests[0].headers["Authorization"] == Self.basic)
    #expect(target.requests[0].headers["Authorization"] == nil)
  }

  @Test("an empty default entry gives a host no credential, also after a redirect")
  func emptyDefault() async throws {
    // CVE-2024-11053: curl sent the first host's password to the second host if the second entry had no password.
    let fixture = try Fixture()
    let target = try LoopbackServer { _ in .response(200) }
    let server = try LoopbackServer { _ in .redirect(to: target.url("/")) }
    let session = Session(interceptor: try fixture.netrc("machine 127.0.0.1 login u password secret\ndefault\n"))
    #expect(await session.request(try RequestURL(server.url("/"))).response().error == nil)
    #expect(target.requests[0].headers["Authorization"] == nil)
    let other = try RequestURL("http://localhost:\(target.port)/")
    #expect(await session.request(other).response().error == nil)
    #expect(target.requests[1].headers["Authorization"] == nil)
  }

  @Test("credentials of the request override netrc; a user name without a password gets the password from netrc")
  func precedence() async throws {
    let fixture = try Fixture()
    let server = try LoopbackServer { _ in .response(200) }
    let session = Session(interceptor: try fixture.netrc("machine 127.0.0.1 login u password secret"))
    func sent(_ url: String, _ headers: HTTPFields = [:]) async throws -> String? {
      let before = server.requests.count
      _ = await session.request(try RequestURL(url), headers: headers).response()
      return server.requests[before].headers["Authorization"]
    }
    #expect(try await sent(server.url("/")) == Self.basic)
    #expect(try await sent("http://u@127.0.0.1:\(server.port)/") == Self.basic)
    let own = "Basic \(Data("me:mine".utf8).base64EncodedString())"
    #expect(try await sent("http://me:mine@127.0.0.1:\(server.port)/") == own)
    #expect(try await sent(server.url("/"), [.authorization: "Bearer x"]) == "Bearer x")
    let emptyPassword = "Basic \(Data("me:".utf8).base64EncodedString())"
    #expect(try await sent("http://me@127.0.0.1:\(server.port)/") == emptyPassword)
  }

  @Test("a changed netrc file is read again, and a missing netrc file fails the request")
  func changes() async throws {
    let fixture = try Fixture()
    let server = try LoopbackServer { _ in .response(200) }
    let adapter = try fixture.netrc("machine 127.0.0.1 login old password old!")
    let session = Session(interceptor: adapter)
    let url = try RequestURL(server.url("/"))
    _ = await session.request(url).response()
    _ = try fixture.netrc("machine 127.0.0.1 login u password secret")
    // Two writes within one tick of the kernel's clock would give the same modification time.
    setModificationTime(fixture.directory.path("netrc"), 1_700_000_000)
    _ = await session.request(url).response()
    #expect(server.requests[1].headers["Authorization"] == Self.basic)
    let missing = Session(interceptor: NetrcAdapter(path: "/nonexistent/netrc"))
    guard case .file? = await missing.request(url).response().error else {
      Issue.record("no error")
      return
    }
    #expect(server.requests.count == 2)
  }
}
