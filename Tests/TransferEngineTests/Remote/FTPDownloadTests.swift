import Foundation
import TestSupport
import Testing

@testable import TransferEngine

@Suite(.timeLimit(.minutes(5))) struct FTPDownloadTests {
  static let payload = Payload(size: 3 << 20, seed: 7)
  /// The bytes that libcurl and the kernel can buffer, in addition to the overlap, when a connection breaks.
  static let slack: Int64 = 1 << 20

  typealias Security = FTPServer.Options.Security

  private func serve(
    _ payload: Payload = payload, security: Security = .plain, _ change: (inout FTPServer.Options) -> Void = { _ in }
  ) async throws -> (server: FTPServer, fixture: DownloadFixture, request: TransferRequest) {
    var options = FTPServer.Options()
    options.security = security
    change(&options)
    let certificates = security == .plain ? nil : try await TestCertificates()
    let server = try await FTPServer(options, certificates: certificates)
    try payload.write(to: server.root + "/a.iso")
    let fixture = try DownloadFixture(Session(configuration: .tls(certificates)), keeping: [server])
    let scheme = [Security.plain: "ftp", .explicit: "ftpes", .implicit: "ftps"][security] ?? ""
    return (server, fixture, try .to(server.url("/a.iso", scheme: scheme)))
  }

  @Test("a file arrives complete", arguments: [Security.plain, .explicit, .implicit], [0, 1, 3 << 20] as [Int64])
  func whole(_ security: Security, _ size: Int64) async throws {
    let payload = Payload(size: size, seed: 3)
    let (_, fixture, request) = try await serve(payload, security: security)
    let response = try await fixture.download(request).response()
    #expect(response.error == nil)
    #expect(response.head == nil)
    #expect(response.totalBytes == size)
    #expect(response.verification == .length)
    try fixture.expectOnly(payload)
  }

  @Test("a negative size is an error, not the size without its sign")
  func negativeSize() async throws {
    let server = try ScriptedFTP(Self.payload) { name, _, _ in name == "SIZE" ? .reply(Data("213 -5\r\n".utf8)) : nil }
    let fixture = try DownloadFixture(Session(), keeping: [server])
    let response = try await fixture.download(.to(server.url("/a.iso"))).response()
    guard case .response(.malformed)? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
  }

  /// libcurl has no timer for a reply that is due after the time limit for connecting has passed.
  @Test("a server that does not reply to a command causes a stall error", arguments: ["SIZE", "MDTM", "EPSV", "RETR"])
  func silent(_ command: String) async throws {
    let server = try ScriptedFTP(Self.payload) { name, _, _ in name == command ? .reply(Data()) : nil }
    let fixture = try DownloadFixture(Session(), keeping: [server])
    var request = try TransferRequest.to(server.url("/a.iso"), stallTimeout: .seconds(2))
    request.connectTimeout = .seconds(1)
    let response = try await fixture.download(request).response()
    guard let error = response.error, case .connection = error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
    #expect(error.isTransient)
  }

  @Test("a broken connection is resumed", arguments: [Security.plain, .explicit, .implicit])
  func resume(_ security: Security) async throws {
    let (server, fixture, request) = try await serve(security: security) {
      $0.fault = .cut
      $0.faultAfter = 2 << 20
    }
    let first = try await fixture.download(request).response()
    #expect(first.error?.isTransient == true)
    let data = try #require(first.resumeData)
    #expect(first.bytesOnDisk > 1 << 20)
    try fixture.expectPart(data, holds: first.bytesOnDisk, of: Self.payload)
    let second = try await fixture.download(request, resumingWith: data.encoded()).response()
    #expect(second.error == nil)
    #expect(second.resumedFrom == first.bytesOnDisk)
    #expect(second.bytesReceived == Self.payload.size - first.bytesOnDisk + RangeStrategies.overlapBytes)
    try fixture.expectOnly(Self.payload)
    try await server.wait(for: "CMD REST")
    #expect(server.commands.contains("REST \(first.bytesOnDisk - RangeStrategies.overlapBytes)"))
  }

  @Test("a retry continues where the connection broke")
  func retry() async throws {
    let (server, fixture, request) = try await serve {
      $0.fault = .cut
      $0.faultAfter = 1 << 20
      $0.faultTimes = 2
    }
    let response = try await fixture.download(request, interceptor: .atOnce(3)).response()
    #expect(response.error == nil)
    try fixture.expectOnly(Self.payload)
    #expect(response.bytesReceived <= Self.payload.size + 2 * (RangeStrategies.overlapBytes + Self.slack))
    #expect(server.commands.filter { $0.hasPrefix("RETR") }.count == 3)
  }

  @Test("fewer bytes than announced are never a complete file", arguments: [FTPServer.Options.Fault.pretend, .abort])
  func truncated(_ fault: FTPServer.Options.Fault) async throws {
    let (_, fixture, request) = try await serve {
      $0.fault = fault
      $0.faultAfter = 2 << 20
    }
    let response = try await fixture.download(request).response()
    guard case .response(.truncated(let received, let expected))? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
    #expect(received == 2 << 20)
    #expect(expected == Self.payload.size)
    #expect(response.resumeData != nil)
    let second = try await fixture.download(request, resumingWith: response.resumeData?.encoded()).response()
    #expect(second.error == nil)
    try fixture.expectOnly(Self.payload)
  }

  @Test("a file that changed is fetched again, and versions are never mixed", arguments: ["size", "time", "content"])
  func changed(_ what: String) async throws {
    let (server, fixture, request) = try await serve {
      $0.fault = .cut
      $0.faultAfter = 2 << 20
    }
    let path = server.root + "/a.iso"
    setModificationTime(path, 1_700_000_000)
    let first = try await fixture.download(request).response()
    let data = try #require(first.resumeData)
    switch what {
    case "size": try Payload(size: Self.payload.size + 1, seed: 9).write(to: path + ".new")
    case "time": try Payload(size: Self.payload.size, seed: 9).write(to: path + ".new")
    default: try Self.payload.write(to: path + ".new")
    }
    setModificationTime(path + ".new", what == "time" ? 1_700_000_001 : 1_700_000_000)
    // The change is in the overlap, the only old bytes that are compared.
    if what == "content" { try spoil(path + ".new", at: first.bytesOnDisk - 1000, keepingTime: 1_700_000_000) }
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.moveItem(atPath: path + ".new", toPath: path)
    let recorder = EventRecorder()
    let session = Session(eventMonitors: [recorder])
    let second = try await fixture.download(request, session: session, resumingWith: data.encoded()).response()
    #expect(second.error == nil)
    #expect(second.resumedFrom == 0)
    #expect(recorder.refusals.count == 1)
    #expect(try fixture.names() == [DownloadFixture.name])
    #expect(try sha256(ofFile: fixture.path) == sha256(ofFile: path))
  }

  @Test("without SIZE and MDTM a download resumes by comparing the overlap")
  func withoutFacts() async throws {
    let (_, fixture, request) = try await serve {
      $0.unknownCommands = ["SIZE", "MDTM"]
      $0.fault = .abort
      $0.faultAfter = 2 << 20
    }
    let first = try await fixture.download(request).response()
    #expect(first.error?.isTransient == true)
    let second = try await fixture.download(request, resumingWith: first.resumeData?.encoded()).response()
    #expect(second.error == nil)
    #expect(second.resumedFrom == 2 << 20)
    try fixture.expectOnly(Self.payload)
  }

  @Test("without REST the server sends the whole file again")
  func withoutRest() async throws {
    let (_, fixture, request) = try await serve {
      $0.unknownCommands = ["REST"]
      $0.fault = .cut
      $0.faultAfter = 2 << 20
    }
    let first = try await fixture.download(request).response()
    let second = try await fixture.download(request, resumingWith: first.resumeData?.encoded()).response()
    #expect(second.error == nil)
    #expect(second.resumedFrom == 0)
    try fixture.expectOnly(Self.payload)
  }

  @Test("a missing file, a directory and a wrong password have different errors")
  func refusals() async throws {
    let (server, fixture, _) = try await serve()
    try FileManager.default.createDirectory(atPath: server.root + "/dir", withIntermediateDirectories: true)
    for path in ["/none", "/none/a", "/dir"] {
      let response = try await fixture.download(.to(server.url(path))).response()
      guard case .remote(.missing)? = response.error else {
        Issue.record("\(path): \(String(describing: response.error))")
        continue
      }
    }
    let listing = try await fixture.download(.to(server.url("/dir/"))).response()
    guard case .remote(.isDirectory)? = listing.error else {
      Issue.record("\(String(describing: listing.error))")
      return
    }
    let stranger = try await fixture.download(.to("ftp://user:wrong@127.0.0.1:\(server.port)/a.iso")).response()
    guard case .remote(.loginDenied)? = stranger.error else {
      Issue.record("\(String(describing: stranger.error))")
      return
    }
    #expect(stranger.error?.isTransient == false)
    #expect(!"\(stranger.error!)".contains("wrong"))
    #expect(try fixture.names() == [])
  }

  @Test("a server with too many users is retried")
  func busy() async throws {
    let (_, fixture, request) = try await serve { $0.busyTimes = 1 }
    let first = try await fixture.download(request).response()
    guard case .remote(.busy)? = first.error else {
      Issue.record("\(String(describing: first.error))")
      return
    }
    #expect(try await fixture.download(request, interceptor: .atOnce(1)).response().error == nil)
    try fixture.expectOnly(Self.payload)
  }

  @Test("a 530 reply about too many users is a transient error")
  func tooManyUsers() async throws {
    let (server, fixture, _) = try await serve { $0.loginReply = "Sorry, too many users, try again later." }
    let response = try await fixture.download(.to("ftp://user:wrong@127.0.0.1:\(server.port)/a.iso")).response()
    #expect(response.error?.isTransient == true)
  }

  @Test("the address in a PASV reply is ignored")
  func passiveAddress() async throws {
    let (_, fixture, request) = try await serve {
      $0.passiveAddress = "127.0.0.2"
      $0.unknownCommands = ["EPSV"]
    }
    let response = try await fixture.download(request).response()
    #expect(response.error == nil)
    try fixture.expectOnly(Self.payload)
  }

  @Test("no password is sent without TLS if TLS is required")
  func required() async throws {
    let (server, _, _) = try await serve()
    for (scheme, security) in [("ftpes", FTPSecurity.none), ("ftp", .required)] {
      let fixture = try DownloadFixture(Session(configuration: .tls(nil, security)))
      let response = try await fixture.download(.to(server.url("/a.iso", scheme: scheme))).response()
      guard case .connection(.tls(_, _, let isTransient))? = response.error else {
        Issue.record("\(String(describing: response.error))")
        continue
      }
      #expect(!isTransient)
    }
    #expect(!server.commands.contains("PASS"))
    let fixture = try DownloadFixture(Session(configuration: .tls(nil, .ifAvailable)))
    #expect(try await fixture.download(.to(server.url("/a.iso"))).response().error == nil)
  }

  @Test(
    "an untrusted certificate ends the transfer before the password is sent",
    arguments: [Security.explicit, .implicit])
  func certificate(_ security: Security) async throws {
    let (server, _, request) = try await serve(security: security)
    let fixture = try DownloadFixture(Session())
    let response = try await fixture.download(request).response()
    guard case .connection(.tls)? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
    #expect(!server.commands.contains("PASS"))
  }

  @Test("a cancelled download can be resumed")
  func cancel() async throws {
    let (_, fixture, request) = try await serve()
    // The limit is so low that the download cannot complete before it is suspended.
    var slow = request
    slow.limitRate = 64 << 10
    let download = try fixture.download(slow)
    try await download.resumed(suspendedAfter: 128 << 10)
    let data = try #require(await download.cancelProducingResumeData())
    let kept = try #require(ResumeData(data)).checkpointBytes
    let second = try await fixture.download(request, resumingWith: data).response()
    #expect(second.error == nil)
    #expect(second.resumedFrom == kept)
    try fixture.expectOnly(Self.payload)
  }

  @Test("files with special characters in their names are downloaded over one login")
  func names() async throws {
    let (server, fixture, _) = try await serve()
    let payload = Payload(size: 1000, seed: 5)
    for name in ["a b.bin", "ü.bin", "#x", "50%"] {
      try FileManager.default.createDirectory(atPath: server.root + "/d e", withIntermediateDirectories: true)
      try payload.write(to: server.root + "/d e/" + name)
      let encoded = name.addingPercentEncoding(withAllowedCharacters: .alphanumerics)!
      let response = try await fixture.download(.to(server.url("/d%20e/" + encoded)), options: .removePreviousFile)
        .response()
      #expect(response.error == nil, "\(name)")
      try fixture.expectOnly(payload)
    }
    #expect(server.commands.filter { $0 == "PASS" }.count == 1)
  }

  @Test("a data request reads a small file")
  func data() async throws {
    let (server, fixture, _) = try await serve()
    let payload = Payload(size: 5000, seed: 5)
    try payload.write(to: server.root + "/small")
    let response = await fixture.session.request(try RequestURL(server.url("/small"))).response()
    #expect(response.error == nil)
    #expect(response.head == nil)
    #expect(response.data == payload.data)
  }
}
