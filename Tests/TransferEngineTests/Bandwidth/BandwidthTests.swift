import Foundation
import TestSupport
import Testing

@testable import TransferEngine

@Suite(.timeLimit(.minutes(5))) struct BandwidthTests {
  /// Runs the work for each number at once.
  /// - Returns: the time until all have ended.
  static func time(
    _ count: Int = 1, _ work: @escaping @Sendable (Int) async throws -> Void
  ) async throws -> Duration {
    let start = ContinuousClock.now
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<count { group.addTask { try await work(number) } }
      try await group.waitForAll()
    }
    return start.duration(to: .now)
  }

  /// A limit is never exceeded. On a busy machine a transfer may be slower than it.
  static func expect(
    _ duration: Duration, near seconds: Double, _ tolerance: Double = 0.06,
    _ location: SourceLocation = #_sourceLocation
  ) {
    let found = duration / .seconds(1)
    let allowed = seconds * (1 - tolerance)...seconds * (1.2 + tolerance)
    #expect(allowed.contains(found), "\(found) s, not \(seconds) s", sourceLocation: location)
  }

  @Test("4 MB below a limit of 1 MB/s take 4 s", arguments: [1, 200])
  func download(_ count: Int) async throws {
    let payload = Payload(size: 4_000_000 / Int64(count))
    let server = try LoopbackServer(.file(payload))
    let fixture = try DownloadFixture()
    fixture.session.bandwidth.setLimit(BandwidthLimit(down: 1_000_000))
    let duration = try await Self.time(count) { number in
      let response = try await fixture.download(.of(server), to: fixture.directory.path("\(number)")).response()
      #expect(response.error == nil)
    }
    Self.expect(duration, near: 4)
    #expect(try sha256(ofFile: fixture.directory.path("\(count - 1)")) == payload.sha256)
  }

  @Test("4 MB sent below a limit of 1 MB/s take 4 s", arguments: [1, 200])
  func upload(_ count: Int) async throws {
    let fixture = try UploadFixture(size: 4_000_000 / Int64(count))
    let server = try LoopbackServer { _ in .response(201) }
    fixture.session.bandwidth.setLimit(BandwidthLimit(up: 1_000_000))
    let duration = try await Self.time(count) { number in
      let upload = try fixture.upload(to: server.url("/\(number)"))
      #expect(await fixture.send(upload).isSuccess)
    }
    Self.expect(duration, near: 4)
    #expect(server.requests.last?.body == fixture.payload.data || count > 1)
  }

  @Test("half a second at 500 MB/s brings 250 MB", arguments: [1, 20])
  func fast(_ count: Int) async throws {
    let nginx = try await Nginx()
    let size = 250_000_000 / count
    try Data().write(to: URL(fileURLWithPath: nginx.root + "/a"))
    try FileHandle(forWritingTo: URL(fileURLWithPath: nginx.root + "/a")).truncate(atOffset: UInt64(size))
    let session = Session()
    session.bandwidth.setLimit(BandwidthLimit(down: 500_000_000))
    let url = try RequestURL(nginx.url("/a"))
    let duration = try await Self.time(count) { _ in
      var received = 0
      for try await bytes in session.streamRequest(url).streamTask().streamingData() {
        received += bytes.value?.count ?? 0
      }
      #expect(received == size)
    }
    // A slow machine may need longer without a limit.
    #expect(duration >= .milliseconds(380), "\(duration)")
  }

  @Test("a group of small downloads obeys the limits of the session and of a bucket", arguments: [nil, "batch"])
  func downloadGroup(_ bucket: String?) async throws {
    let payload = Payload(size: 20_000)
    let server = try LoopbackServer(.file(payload))
    let fixture = try GroupFixture()
    let limit = BandwidthLimit(down: 1_000_000)
    if let bucket {
      fixture.session.bandwidth.setLimit(limit, ofBucket: bucket)
    } else {
      fixture.session.bandwidth.setLimit(limit)
    }
    let group = fixture.group()
    let start = ContinuousClock.now
    group.add(try fixture.items(server, 0..<100) { $0.request.bandwidthBuckets = ["batch"] })
    group.finish()
    let responses = await group.responses()
    Self.expect(start.duration(to: .now), near: 2, 0.1)
    #expect(responses.count == 100 && responses.values.allSatisfy { $0.error == nil })
  }

  @Test("a group of small uploads obeys the limits")
  func uploadGroup() async throws {
    let fixture = try UploadFixture(size: 20_000)
    let server = try LoopbackServer { _ in .response(201) }
    fixture.session.bandwidth.setLimit(BandwidthLimit(up: 1_000_000))
    let group = fixture.session.uploads(
      try (0..<100).map { GroupUpload(tag: $0, try fixture.upload(to: server.url("/\($0)"))) })
    let start = ContinuousClock.now
    var ended = 0
    for await outcomes in group {
      for outcome in outcomes {
        #expect(outcome.response.isSuccess)
        ended += 1
      }
    }
    Self.expect(start.duration(to: .now), near: 2, 0.1)
    #expect(ended == 100)
  }

  @Test("a limit applies to a transfer that runs already, and its end too, without a new request")
  func change() async throws {
    let payload = Payload(size: 24 << 20)
    // Not so fast that everything arrives before the limit is known.
    let server = try LoopbackServer { _ in
      [
        .status(200, headers: ["Content-Length": "\(payload.size)", "ETag": "\"a\""]),
        .drip(bytesPerSecond: 40 << 20), .bodyFrom(payload, 0..<payload.size), .keepAlive,
      ]
    }
    let fixture = try DownloadFixture()
    let bandwidth = fixture.session.bandwidth
    var request = try TransferRequest.of(server)
    request.bandwidthBuckets = ["job 1"]
    let (began, went) = (Watched<ContinuousClock.Instant?>(nil), Watched<ContinuousClock.Instant?>(nil))
    let download = try fixture.download(request).downloadProgress { progress in
      if progress.completed > 0, began.value == nil {
        began.mutate { $0 = .now }
        bandwidth.setLimit(BandwidthLimit(down: 4 << 20), ofBucket: "job 1")
      } else if progress.completed > 16 << 20, went.value == nil {
        went.mutate { $0 = .now }
        bandwidth.setLimit(.none, ofBucket: "job 1")
      }
    }
    let response = await download.response()
    let end = ContinuousClock.now
    #expect(response.error == nil)
    try fixture.expectOnly(payload)
    let (first, second) = (try #require(began.value), try #require(went.value))
    // 16 MiB at 4 MiB/s, except for what had arrived when the limit came.
    #expect(first.duration(to: second) > .milliseconds(2500), "\(first.duration(to: second))")
    // The rest of 8 MiB would take 2 s with the limit.
    #expect(second.duration(to: end) < .milliseconds(1500), "\(second.duration(to: end))")
    #expect(server.requests.count == 1)
  }

  @Test("a limit applies to an upload that runs already, without a new request")
  func changeUpload() async throws {
    let fixture = try UploadFixture(size: 24 << 20)
    let server = try LoopbackServer { _ in .response(201) }
    let bandwidth = fixture.session.bandwidth
    var upload = try fixture.upload(to: server.url("/a"))
    upload.request.bandwidthBuckets = ["job 1"]
    let (began, went) = (Watched<ContinuousClock.Instant?>(nil), Watched<ContinuousClock.Instant?>(nil))
    let request = fixture.session.upload(upload).uploadProgress { progress in
      if progress.completed > 0, began.value == nil {
        began.mutate { $0 = .now }
        bandwidth.setLimit(BandwidthLimit(up: 4 << 20), ofBucket: "job 1")
      } else if progress.completed > 16 << 20, went.value == nil {
        went.mutate { $0 = .now }
        bandwidth.setLimit(.none, ofBucket: "job 1")
      }
    }
    #expect(await request.response().isSuccess)
    let end = ContinuousClock.now
    let (first, second) = (try #require(began.value), try #require(went.value))
    #expect(first.duration(to: second) > .milliseconds(2500), "\(first.duration(to: second))")
    #expect(second.duration(to: end) < .milliseconds(1500), "\(second.duration(to: end))")
    #expect(server.requests.count == 1)
  }

  @Test("a session's limit and a bucket's: the rest goes to the transfers outside of the bucket")
  func nested() async throws {
    let server = try LoopbackServer(files: [
      "/slow": .file(Payload(size: 250_000)), "/fast": .file(Payload(size: 875_000)),
    ])
    let fixture = try DownloadFixture()
    fixture.session.bandwidth.setLimit(BandwidthLimit(down: 1_000_000))
    fixture.session.bandwidth.setLimit(BandwidthLimit(down: 250_000), ofBucket: "batch")
    let ends = Watched<[Duration]>([])
    let start = ContinuousClock.now
    let duration = try await Self.time(4) { number in
      var request = try TransferRequest.of(server, number < 2 ? "/slow" : "/fast")
      if number < 2 { request.bandwidthBuckets = ["batch"] }
      #expect(try await fixture.download(request, to: fixture.directory.path("\(number)")).response().error == nil)
      ends.mutate { $0.append(start.duration(to: .now)) }
    }
    // Two of 125 KB/s each, and two of 375 KB/s each: all end after 2.0 to 2.3 s.
    Self.expect(duration, near: 2.25, 0.1)
    #expect(ends.value.allSatisfy { $0 > .milliseconds(1700) }, "\(ends.value)")
  }

  @Test("waiting for bandwidth is no stall, neither for downloads nor for uploads")
  func stall() async throws {
    let payload = Payload(size: 8192)
    let server = try LoopbackServer { request in
      request.method == "PUT" ? .response(201) : .response(200, body: payload.data)
    }
    let fixture = try UploadFixture(payload)
    let files = try DownloadFixture(fixture.session)
    fixture.session.bandwidth.setLimit(BandwidthLimit(down: 16384, up: 16384))
    _ = try await Self.time(16) { number in
      if number % 2 == 0 {
        let request = try TransferRequest.of(server, stallTimeout: .seconds(1))
        #expect(try await files.download(request, to: files.directory.path("\(number)")).response().error == nil)
      } else {
        let upload = try fixture.upload(to: server.url("/\(number)"), stallTimeout: .seconds(1))
        let error = await fixture.send(upload).error
        #expect(error == nil)
      }
    }
    #expect(server.requests.count == 16)
  }

  @Test("a server that stops sending below a limit is a stall")
  func silentServer() async throws {
    let server = try LoopbackServer(.file(Payload(size: 1 << 20)).stalling(after: 100_000))
    let fixture = try DownloadFixture()
    fixture.session.bandwidth.setLimit(BandwidthLimit(down: 10 << 20))
    let request = try TransferRequest.of(server, stallTimeout: .seconds(1))
    #expect(word(try await fixture.download(request).response().error) == "stalled")
  }

  @Test("a suspended download below a limit continues")
  func suspended() async throws {
    let payload = Payload(size: 1_000_000)
    let server = try LoopbackServer(.file(payload))
    let fixture = try DownloadFixture()
    fixture.session.bandwidth.setLimit(BandwidthLimit(down: 1 << 20))
    let (isSuspended, wasSuspended) = (Gate(), Watched(false))
    let download = try fixture.download(server)
    download.downloadProgress { [weak download] progress in
      guard progress.completed > 100_000, !wasSuspended.value else { return }
      wasSuspended.mutate { $0 = true }
      download?.suspend()
      isSuspended.open()
    }
    download.resume()
    try await isSuspended.wait()
    download.resume()
    #expect(await download.response().error == nil)
    try fixture.expectOnly(payload)
  }

  @Test("a data request in both directions: each has its limit")
  func both() async throws {
    let server = try LoopbackServer { .response(200, body: $0.body) }
    let session = Session()
    session.bandwidth.setLimit(BandwidthLimit(down: 1_000_000, up: 500_000))
    let body = Payload(size: 500_000).data
    let url = try RequestURL(server.url("/"))
    let duration = try await Self.time { _ in
      let response = await session.request(url, method: .post, body: .data(body)).response()
      #expect(response.data == body)
    }
    // Each direction begins with the bytes of 100 ms.
    Self.expect(duration, near: 1.3, 0.2)
  }

  /// A session for a server, the server's directory, and its URL.
  private static func fileServer(_ scheme: String) async throws -> (Session, (path: String, kept: any Sendable), String)
  {
    if scheme == "ftp" {
      let server = try await FTPServer()
      return (Session(), (server.root, server), server.url("", scheme: scheme))
    }
    let server = try await SSHServer()
    return (
      Session(configuration: .ssh(server)), (server.root, server), server.url(scheme, server.root)
    )
  }

  @Test("FTP and SFTP obey the limits in both directions", arguments: ["ftp", "sftp"])
  func remote(_ scheme: String) async throws {
    let payload = Payload(size: 2_000_000)
    let (session, root, base) = try await Self.fileServer(scheme)
    try payload.write(to: root.path + "/a")
    session.bandwidth.setLimit(BandwidthLimit(down: 1_000_000, up: 1_000_000))
    let fixture = try DownloadFixture(session)
    var duration = try await Self.time { _ in
      let request = TransferRequest(url: try RequestURL(base + "/a"), stallTimeout: .seconds(60))
      #expect(try await fixture.download(request).response().error == nil)
    }
    Self.expect(duration, near: 2, 0.2)
    try fixture.expectOnly(payload)
    let source = try UploadFixture(payload, session: session)
    duration = try await Self.time { _ in
      let upload = FileUpload(
        request: TransferRequest(url: try RequestURL(base + "/b"), stallTimeout: .seconds(60)), source: source.path)
      let error = await source.send(upload).error
      #expect(error == nil)
    }
    Self.expect(duration, near: 2, 0.25)
    #expect(try sha256(ofFile: root.path + "/b") == payload.sha256)
  }

  @Test("transfers below a limit use HTTP/1.1, so that a pause cannot stop others")
  func http2() async throws {
    let payload = Payload(size: 500_000)
    let certificates = try await TestCertificates()
    let nginx = try await Nginx(.init(certificates: certificates, http2: true))
    try payload.write(to: nginx.root + "/a")
    var configuration = SessionConfiguration()
    configuration.certificateAuthorityFile = certificates.authority
    let fixture = try DownloadFixture(Session(configuration: configuration))
    let request = TransferRequest(url: try RequestURL(nginx.url("/a")))
    let free = try await fixture.download(request, to: fixture.directory.path("free")).response()
    #expect(free.metrics.last?.networkProtocol == "h2")
    fixture.session.bandwidth.setLimit(BandwidthLimit(down: 1_000_000))
    let duration = try await Self.time(4) { number in
      let response = try await fixture.download(request, to: fixture.directory.path("\(number)")).response()
      #expect(response.error == nil && response.metrics.last?.networkProtocol == "http/1.1")
    }
    Self.expect(duration, near: 2, 0.1)
    fixture.session.bandwidth.setLimit(.none)
    let again = try await fixture.download(request, to: fixture.directory.path("again")).response()
    #expect(again.metrics.last?.networkProtocol == "h2")
  }

  @Test("a limit that comes while HTTP/2 transfers run applies to them, and all of them end")
  func runningHTTP2() async throws {
    let payload = Payload(size: 8 << 20)
    let certificates = try await TestCertificates()
    let nginx = try await Nginx(.init(certificates: certificates, http2: true, bytesPerSecond: 8 << 20))
    try payload.write(to: nginx.root + "/a")
    var configuration = SessionConfiguration()
    configuration.certificateAuthorityFile = certificates.authority
    let fixture = try DownloadFixture(Session(configuration: configuration))
    let request = TransferRequest(url: try RequestURL(nginx.url("/a")), stallTimeout: .seconds(5))
    // The server's rate lets none end before all have begun: a transfer that begins below the limit uses HTTP/1.1.
    let begun = Watched<Set<Int>>([])
    let duration = try await Self.time(8) { number in
      let download = try fixture.download(request, to: fixture.directory.path("\(number)"))
        .downloadProgress { progress in
          guard progress.completed > 0, begun.mutate({ $0.insert(number).inserted && $0.count == 8 }) else { return }
          fixture.session.bandwidth.setLimit(BandwidthLimit(down: 20 << 20))
        }
      let response = await download.response()
      #expect(response.error == nil)
      #expect(response.metrics.last?.networkProtocol == "h2")
    }
    // 64 MiB, of which a few arrive before the limit.
    #expect(duration > .milliseconds(1500), "\(duration)")
    for number in 0..<8 { #expect(try sha256(ofFile: fixture.directory.path("\(number)")) == payload.sha256) }
  }
}
