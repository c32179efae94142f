import Foundation
import TestSupport
import Testing

@testable import TransferEngine

/// The same against a server that others wrote.
@Suite(.timeLimit(.minutes(5))) struct NginxTests {
  static let payload = Payload(size: 8 << 20)

  @Test("a download is cut off and resumed")
  func ranges() async throws {
    let nginx = try await Nginx()
    try Self.payload.write(to: nginx.root + "/a.iso")
    let request = TransferRequest(url: try RequestURL(nginx.url("/a.iso")))
    let room = try DownloadRoom()
    // Slow enough that it cannot come to its end before it is told to wait.
    var slow = request
    slow.limitRate = 256 << 10
    let first = try room.download(slow)
    try await first.resumed(suspendedAfter: 64 << 10)
    let data = try #require(await first.cancelProducingResumeData())
    let kept = try #require(ResumeData(data)).checkpointBytes
    let second = try await room.download(request, session: Session(), resumingWith: data).response()
    #expect(second.error == nil)
    #expect(second.resumedFrom == kept)
    #expect(second.bytesReceived == Self.payload.size - kept)
    try room.expectOnly(Self.payload)
    try await nginx.stop()
    #expect(nginx.accessLog.last == "GET /a.iso 206 \(Self.payload.size - kept) \"bytes=\(kept)-\" HTTP/1.1")
  }

  @Test("a missing file is 404, for good")
  func missing() async throws {
    let nginx = try await Nginx()
    let room = try DownloadRoom()
    let response = try await room.download(TransferRequest(url: RequestURL(nginx.url("/none")))).response()
    #expect(response.error?.status == 404)
    #expect(try room.names() == [])
  }

  @Test("TLS: our own authority is believed, every other is not")
  func tls() async throws {
    let (certificates, others) = (try await TestCertificates(), try await TestCertificates())
    let nginx = try await Nginx(.init(certificates: certificates))
    try Self.payload.write(to: nginx.root + "/a.iso")
    let request = TransferRequest(url: try RequestURL(nginx.url("/a.iso")))
    var configuration = SessionConfiguration()
    configuration.certificateAuthorityFile = certificates.authority
    let room = try DownloadRoom(Session(configuration: configuration))
    #expect(try await room.download(request).response().error == nil)
    try room.expectOnly(Self.payload)

    for file in [others.authority, nil] {
      configuration.certificateAuthorityFile = file
      let other = try DownloadRoom(Session(configuration: configuration))
      let response = try await other.download(request).response()
      guard case .connection(.tls(let host, _, let isTransient))? = response.error else {
        Issue.record("\(String(describing: response.error))")
        continue
      }
      #expect(!isTransient)
      #expect(host.hasPrefix("127.0.0.1"))
      #expect(try other.names() == [])
    }
  }

  @Test("a certificate that is out of date or for another name is refused for good", arguments: [true, false])
  func badCertificate(isExpired: Bool) async throws {
    let certificates =
      isExpired ? try await TestCertificates(days: -1) : try await TestCertificates(names: ["other.test"])
    let nginx = try await Nginx(.init(certificates: certificates))
    var configuration = SessionConfiguration()
    configuration.certificateAuthorityFile = certificates.authority
    let room = try DownloadRoom(Session(configuration: configuration))
    let response = try await room.download(TransferRequest(url: RequestURL(nginx.url("/a")))).response()
    #expect(response.error?.isTransient == false)
    guard case .connection(.tls)? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
  }

  @Test("https is not left by a redirect")
  func downgrade() async throws {
    let certificates = try await TestCertificates()
    let nginx = try await Nginx(.init(certificates: certificates, directives: "return 302 http://127.0.0.1:1/x;"))
    var configuration = SessionConfiguration()
    configuration.certificateAuthorityFile = certificates.authority
    let room = try DownloadRoom(Session(configuration: configuration))
    let response = try await room.download(TransferRequest(url: RequestURL(nginx.url("/a")))).response()
    guard case .redirect(.refused)? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
  }

  @Test("HTTP/2: 50 files at once")
  func http2() async throws {
    let certificates = try await TestCertificates()
    let nginx = try await Nginx(.init(certificates: certificates, http2: true))
    let payload = Payload(size: 300_000)
    try payload.write(to: nginx.root + "/a.bin")
    var configuration = SessionConfiguration()
    configuration.certificateAuthorityFile = certificates.authority
    let room = try DownloadRoom(Session(configuration: configuration))
    let request = TransferRequest(url: try RequestURL(nginx.url("/a.bin")))
    try await withThrowingTaskGroup(of: FileResponse.self) { group in
      for number in 0..<50 {
        let download = try room.download(request, to: room.directory.path("\(number)"))
        group.addTask { await download.response() }
      }
      for try await response in group {
        #expect(response.error == nil)
        #expect(response.metrics.last?.networkProtocol == "h2")
        #expect(response.verification == .length)
        #expect(try sha256(ofFile: response.result.get()) == payload.sha256)
      }
    }
    #expect(try room.names().count == 50)
  }
}
