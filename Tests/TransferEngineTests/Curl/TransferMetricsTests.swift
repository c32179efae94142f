import Foundation
import TestSupport
import Testing

@testable import TransferEngine

@Suite(.timeLimit(.minutes(5))) struct TransferMetricsTests {
  @Test("the times of a transfer are in order, and sent and received bytes are counted")
  func plain() async throws {
    let payload = Payload(size: 100_000)
    let server = try LoopbackServer { request in
      request.path == "/from" ? .response(307, headers: ["Location": "/to"]) : .response(200, body: payload.data)
    }
    let session = Session()
    let response = await session.request(
      try RequestURL(server.url("/from")), method: .put, body: .data(Data(count: 5000))
    ).response()
    #expect(response.metrics.count == 2)
    #expect(response.metrics.map(\.status) == [307, 200])
    #expect(response.metrics.redirectCount == 1)
    #expect(response.metrics.redirectTime == response.metrics[0].total)
    let first = response.metrics[0]
    #expect(!first.isConnectionReused)
    #expect(first.nameLookup <= first.connect && first.connect <= first.ready)
    #expect(first.ready <= first.firstByte && first.firstByte <= first.total)
    #expect(first.connect > .zero)
    let last = response.metrics[1]
    #expect(last.isConnectionReused)
    #expect(last.bytesReceived == 100_000)
    #expect(last.bytesSent == 5000)
    #expect(last.headerBytesReceived > 20)
    #expect(last.headerBytesSent > 50)
    #expect(last.remoteAddress == server.authority)
    #expect(last.localAddress?.hasPrefix("127.0.0.1:") == true)
    #expect(last.networkProtocol == "http/1.1")
    #expect(last.tls == .zero)
    #expect(last.tlsVersion == nil && last.tlsCipher == nil)
    #expect("\(last)".hasPrefix("200 by http/1.1 from \(server.authority): 100000 bytes received, 5000 sent in "))
  }

  @Test("TLS version and cipher are reported, also on a reused connection", arguments: ["TLSv1.2", "TLSv1.3"])
  func tls(_ version: String) async throws {
    let certificates = try await TestCertificates()
    let nginx = try await Nginx(.init(certificates: certificates, directives: "ssl_protocols \(version);"))
    try Data("hello".utf8).write(to: URL(fileURLWithPath: nginx.root + "/a"))
    var configuration = SessionConfiguration()
    configuration.certificateAuthorityFile = certificates.authority
    let session = Session(configuration: configuration)
    for isReused in [false, true] {
      let metrics = try #require(await session.request(try RequestURL(nginx.url("/a"))).response().metrics.first)
      #expect(metrics.isConnectionReused == isReused)
      #expect(metrics.tlsVersion == version)
      #expect(metrics.tlsCipher?.hasPrefix("TLS_") == true)
      #expect((metrics.tls > .zero) == !isReused)
      #expect("\(metrics)".contains("(\(version))"))
    }
  }

  @Test("metrics survive encoding and decoding, and metrics of an older version can be decoded")
  func codable() throws {
    var metrics = TransferMetrics()
    metrics.queued = .microseconds(7)
    metrics.nameLookup = .microseconds(1)
    metrics.total = .seconds(3) + .microseconds(14)
    metrics.bytesReceived = 1 << 40
    metrics.status = 200
    metrics.tlsCipher = "TLS_AES_256_GCM_SHA384"
    metrics.isConnectionReused = true
    let data = try JSONEncoder().encode(metrics)
    #expect(try JSONDecoder().decode(TransferMetrics.self, from: data) == metrics)
    #expect(String(decoding: data, as: UTF8.self).contains("\"total\":3000014"))
    let old = try JSONDecoder().decode(TransferMetrics.self, from: Data(#"{"total":5,"remoteAddress":"a:1"}"#.utf8))
    #expect(old.total == .microseconds(5))
    #expect(old.remoteAddress == "a:1")
    #expect(old.queued == nil && old.status == nil)
  }
}
