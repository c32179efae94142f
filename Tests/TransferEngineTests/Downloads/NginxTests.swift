import Foundation
import TestSupport
import Testing

@testable import TransferEngine

/// Downloads from nginx, a server of another project.
@Suite(.timeLimit(.minutes(5))) struct NginxTests {
  static let payload = Payload(size: 8 << 20)

  @Test("a download is cut off and resumed")
  func ranges() async throws {
    let nginx = try await Nginx()
    try Self.payload.write(to: nginx.root + "/a.iso")
    let request = TransferRequest(url: try RequestURL(nginx.url("/a.iso")))
    let fixture = try DownloadFixture()
    // The limit is so low that the download cannot complete before it is suspended.
    var slow = request
    slow.limitRate = 256 << 10
    let first = try fixture.download(slow)
    try await first.resumed(suspendedAfter: 64 << 10)
    let data = try #require(await first.cancelProducingResumeData())
    let kept = try #require(ResumeData(data)).checkpointBytes
    let second = try await fixture.download(request, session: Session(), resumingWith: data).response()
    #expect(second.error == nil)
    #expect(second.resumedFrom == kept)
    #expect(second.bytesReceived == Self.payload.size - kept)
    try fixture.expectOnly(Self.payload)
    try await nginx.stop()
    #expect(nginx.accessLog.last == "GET /a.iso 206 \(Self.payload.size - kept) \"bytes=\(kept)-\" HTTP/1.1")
  }

  @Test("a missing file is reported as 404")
  func missing() async throws {
    let nginx = try await Nginx()
    let fixture = try DownloadFixture()
    let response = try await fixture.download(TransferRequest(url: RequestURL(nginx.url("/none")))).response()
    #expect(response.error?.status == 404)
    #expect(try fixture.names() == [])
  }

  @Test("only certificates of the configured authority are accepted")
  func tls() async throws {
    let (certificates, others) = (try await TestCertificates(), try await TestCertificates())
    let nginx = try await Nginx(.init(certificates: certificates))
    try Self.payload.write(to: nginx.root + "/a.iso")
    let request = TransferRequest(url: try RequestURL(nginx.url("/a.iso")))
    var configuration = SessionConfiguration()
    configuration.certificateAuthorityFile = certificates.authority
    let fixture = try DownloadFixture(Session(configuration: configuration))
    #expect(try await fixture.download(request).response().error == nil)
    try fixture.expectOnly(Self.payload)

    for file in [others.authority, nil] {
      configuration.certificateAuthorityFile = file
      let other = try DownloadFixture(Session(configuration: configuration))
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

  @Test("an expired certificate and a certificate for another host are permanent errors", arguments: [true, false])
  func badCertificate(isExpired: Bool) async throws {
    let certificates =
      isExpired ? try await TestCertificates(days: -1) : try await TestCertificates(names: ["other.test"])
    let nginx = try await Nginx(.init(certificates: certificates))
    var configuration = SessionConfiguration()
    configuration.certificateAuthorityFile = certificates.authority
    let fixture = try DownloadFixture(Session(configuration: configuration))
    let response = try await fixture.download(TransferRequest(url: RequestURL(nginx.url("/a")))).response()
    #expect(response.error?.isTransient == false)
    guard case .connection(.tls)? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
  }

  @Test("a redirect from https to http is refused")
  func downgrade() async throws {
    let certificates = try await TestCertificates()
    let nginx = try await Nginx(.init(certificates: certificates, directives: "return 302 http://127.0.0.1:1/x;"))
    var configuration = SessionConfiguration()
    configuration.certificateAuthorityFile = certificates.authority
    let fixture = try DownloadFixture(Session(configuration: configuration))
    let response = try await fixture.download(TransferRequest(url: RequestURL(nginx.url("/a")))).response()
    guard case .redirect(.refused)? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
  }

  @Test("50 parallel HTTP/2 downloads complete")
  func http2() async throws {
    let certificates = try await TestCertificates()
    let nginx = try await Nginx(.init(certificates: certificates, http2: true))
    let payload = Payload(size: 300_000)
    try payload.write(to: nginx.root + "/a.bin")
    var configuration = SessionConfiguration()
    configuration.certificateAuthorityFile = certificates.authority
    let fixture = try DownloadFixture(Session(configuration: configuration))
    let request = TransferRequest(url: try RequestURL(nginx.url("/a.bin")))
    try await withThrowingTaskGroup(of: FileResponse.self) { group in
      for number in 0..<50 {
        let download = try fixture.download(request, to: fixture.directory.path("\(number)"))
        group.addTask { await download.response() }
      }
      for try await response in group {
        #expect(response.error == nil)
        #expect(response.metrics.last?.networkProtocol == "h2")
        #expect(response.verification == .length)
        #expect(try sha256(ofFile: response.result.get()) == payload.sha256)
      }
    }
    #expect(try fixture.names().count == 50)
  }
}
