import Foundation
import Testing

@testable import TransferAPI

@Suite struct RelayOptionsTests {
  private func decoded(_ text: String) throws -> NewJob {
    try WireCoding.decoder().decode(NewJob.self, from: Data(text.utf8))
  }

  @Test("thenUpload makes a job a relay, and is written where it was read")
  func coding() throws {
    let job = try decoded(
      #"{"source":"https://h/a","thenUpload":"https://t/","protocol":"tus","targetCredentials":"netrc","checksum":"md5=d41d8cd98f00b204e9800998ecf8427e"}"#
    )
    #expect(job.kind == .relay && job.destination == "https://t/" && job.options.upload.uploadProtocol == .tus)
    let text = String(decoding: try WireCoding.encoder().encode(job), as: UTF8.self)
    #expect(text.contains(#""kind":"relay""#) && text.contains(#""thenUpload":"https://t/""#))
    #expect(!text.contains("destination"))
    #expect(try decoded(text) == job)
    #expect(
      try decoded(#"{"kind":"relay","source":"https://h/a","destination":"https://t/"}"#).destination == "https://t/")
  }

  @Test(
    "a target of another kind of job, and two targets, are refused",
    arguments: [
      #"{"source":"https://h/a","thenUpload":"https://t/","destination":"/x"}"#,
      #"{"kind":"download","source":"https://h/a","thenUpload":"https://t/"}"#,
      #"{"kind":"upload","source":"/a","thenUpload":"https://t/"}"#,
      #"{"source":"https://h/a","thenUpload":"https://t/","recursive":true}"#,
      #"{"source":"https://h/a","protocol":"tus"}"#,
      #"{"source":"https://h/a","thenUpload":"https://t/","spool":"x"}"#,
    ])
  func refused(_ text: String) {
    #expect(throws: WireError.self) { try decoded(text) }
  }

  @Test("what was given for the source does not reach the target")
  func sides() throws {
    var options = JobOptions()
    options.headers = ["Authorization": "x"]
    options.secretHeaders = ["X-Key": try SecretHeader(parsing: "env:A")]
    (options.credentials, options.userAgent, options.referer) = (.netrc, "agent", "https://r/")
    options.network.cookies = "/c"
    options.network.ca = "/ca.pem"
    options.network.interface = "eth0"
    options.network.retryStatus = [404]
    options.s3.endpoint = "https://e"
    options.limitRate = 5
    options.download.checksum = "md5=d41d8cd98f00b204e9800998ecf8427e"
    options.upload.verify = true
    options.relay.targetCredentials = .file("/k")
    let target = options.ofRelayTarget("https")
    #expect(target.headers.isEmpty && target.secretHeaders.isEmpty && target.userAgent == nil && target.referer == nil)
    #expect(
      target.network.cookies == nil && target.credentials == .file("/k") && target.download == JobOptions.Download())
    #expect(target.network.ca == "/ca.pem" && target.network.interface == "eth0" && target.limitRate == 5)
    #expect(target.upload.verify && target.s3 == JobOptions.S3() && target.relay == JobOptions.Relay())
    let source = options.ofRelaySource("https")
    #expect(source.headers == options.headers && source.credentials == .netrc && source.network == options.network)
    #expect(source.upload == JobOptions.Upload() && source.s3 == JobOptions.S3() && source.relay == JobOptions.Relay())
    #expect(source.download.checksum != nil)
    #expect(options.ofRelaySource("s3").s3 == options.s3 && options.ofRelayTarget("s3").s3 == options.s3)
    let sftp = options.ofRelayTarget("sftp")
    #expect(sftp.network.ca == nil && sftp.network.retryStatus.isEmpty && sftp.network.interface == "eth0")
  }

  @Test("a job in a list has its phase, and all other jobs have null")
  func phase() throws {
    var job = Job(
      id: 1, kind: .relay, state: .running, source: "https://h/a", destination: "https://t/a", maxAttempts: 3,
      createdAt: Date(timeIntervalSince1970: 1))
    for phase in [RelayPhase.download, .upload, nil] {
      job.phase = phase
      var text = JSONText()
      try JobLine().write(job, to: &text)
      #expect(JobLine().read(text.bytes.dropLast()) == job)
      #expect(try WireCoding.encoder().encode(job) + [UInt8(ascii: "\n")] == Data(text.bytes))
      #expect(
        String(decoding: text.bytes, as: UTF8.self).contains(
          #""phase":\#(phase.map { "\"\($0.rawValue)\"" } ?? "null")"#))
    }
  }
}
