import Foundation
import TestSupport
import Testing

@testable import TransferEngine

@Suite(.timeLimit(.minutes(5))) struct ErrorResponseTests {
  static let payload = Payload(size: 400_000)
  static let statuses = [300, 304, 400, 401, 403, 404, 405, 407, 410, 429, 451, 500, 501, 502, 503, 504]

  private static func behaviour(_ status: Int, on when: When = .always) -> FileBehaviour {
    let file = FileBehaviour.file(payload)
    return status == 304 ? file.empty(status, on: when) : file.failing(status, on: when)
  }

  @Test("an error response creates no file and replaces no file", arguments: statuses)
  func fresh(_ status: Int) async throws {
    let server = try LoopbackServer(Self.behaviour(status))
    let fixture = try DownloadFixture()
    try fixture.directory.file(DownloadFixture.name, text: "good")
    let response = try await fixture.download(server, options: .removePreviousFile).response()
    #expect(response.error?.status == status)
    #expect(response.error?.isTransient == [429, 500, 502, 503, 504].contains(status))
    #expect(response.head?.status == status)
    #expect(response.resumeData == nil)
    #expect(try fixture.names() == [DownloadFixture.name])
    #expect(try String(contentsOfFile: fixture.path, encoding: .utf8) == "good")
    #expect(server.requests.count == 1)
  }

  @Test("an error response keeps the stored bytes, and a later attempt resumes from them", arguments: statuses)
  func onResume(_ status: Int) async throws {
    let server = try LoopbackServer(Self.behaviour(status, on: .at(1)).dropping(after: 150_000))
    let fixture = try DownloadFixture()
    var data: Data?
    for _ in 0..<2 {
      let response = try await fixture.download(server, resumingWith: data).response()
      try fixture.expectPart(response.resumeData, holds: 150_000, of: Self.payload)
      data = response.resumeData?.encoded()
      #expect(response.bytesOnDisk == 150_000)
    }
    let last = try await fixture.download(server, resumingWith: data).response()
    #expect(last.isSuccess)
    #expect(last.resumedFrom == 150_000)
    #expect(server.requests.map(\.range) == [nil, "150000-", "150000-"])
    try fixture.expectOnly(Self.payload)
  }

  @Test("an error response whose body breaks off or never ends is reported with its status", arguments: [404, 503])
  func brokenPage(_ status: Int) async throws {
    let page = String(repeating: "x", count: 5000)
    for behaviour in [
      FileBehaviour.file(Self.payload).failing(status, body: page).dropping(after: 100, on: .always),
      .file(Self.payload).failing(status, body: page).dropping(after: 100, on: .always, by: .reset),
      .file(Self.payload).endlessError(status),
    ] {
      let server = try LoopbackServer(behaviour)
      let fixture = try DownloadFixture()
      let response = try await fixture.download(server).response()
      #expect(response.error?.status == status, "\(String(describing: response.error))")
      #expect(try fixture.names() == [])
    }
  }

  @Test("the error contains Retry-After")
  func retryAfter() async throws {
    typealias Row = (FileBehaviour.RetryAfter, ClosedRange<Double>?)
    let rows: [Row] = [
      (.seconds(120), 120...120), (.seconds(0), 0...0), (.date(inSeconds: 3600), 3500...3600),
      (.date(inSeconds: -3600), 0...0), (.text("soon"), nil), (.text("-5"), nil), (.text("1 2"), nil),
    ]
    for (field, range) in rows {
      for status in [429, 503] {
        let server = try LoopbackServer(.file(Self.payload).failing(status, retryAfter: field))
        let fixture = try DownloadFixture()
        let response = try await fixture.download(server).response()
        #expect(response.error?.status == status)
        let delay = response.error?.retryAfter.map { $0 / .seconds(1) }
        if let range { #expect(delay.map(range.contains) == true, "\(field): \(String(describing: delay))") }
        if range == nil { #expect(delay == nil) }
      }
    }
  }

  @Test("a retrier completes a download after two 503 responses")
  func recovers() async throws {
    let server = try LoopbackServer(.file(Self.payload).failing(503, on: .first(2)))
    let fixture = try DownloadFixture()
    #expect(try await fixture.download(server, interceptor: .atOnce(2)).response().isSuccess)
    try fixture.expectOnly(Self.payload)
    #expect(server.requests.count == 3)
  }

  @Test("a validation or a digest rejects a login page with status 200")
  func loginPage() async throws {
    let server = try LoopbackServer(.file(Self.payload).page())
    let fixture = try DownloadFixture()
    struct WrongType: Error {}
    let response = try await fixture.download(.of(server)).validate { _, head in
      head.headers[.contentType] == "text/html" ? .failure(WrongType()) : .success
    }.response()
    guard case .hook(.validation, let error)? = response.error, error is WrongType else {
      Issue.record("\(String(describing: response.error))")
      return
    }
    #expect(FileFacts(fixture.path) == nil)
    let digest = ExpectedDigest(algorithm: .sha256, hex: Self.payload.sha256)
    let other = try DownloadFixture()
    #expect(try await other.download(server, expecting: [digest]).response().error?.isTransient == false)
    #expect(try other.names() == [])
  }

  @Test("a response without a head, as in HTTP/0.9, is an error")
  func headless() async throws {
    let server = try LoopbackServer(.file(Self.payload).withoutHead())
    let fixture = try DownloadFixture()
    let response = try await fixture.download(server).response()
    guard case .response(.malformed)? = response.error else {
      Issue.record("\(String(describing: response.error))")
      return
    }
    #expect(try fixture.names() == [])
  }

  @Test(
    "an invalid status line is an error",
    arguments: [
      "HTTP/1.1 banana\r\n\r\n", "HTTP/1.1 999999 X\r\n\r\n", "HTTP/7.3 200 OK\r\n\r\nx", "\r\n\r\n", "\u{0}\u{1}",
    ])
  func garbage(_ text: String) async throws {
    let server = try LoopbackServer(.file(Self.payload).raw(text))
    let fixture = try DownloadFixture()
    let response = try await fixture.download(server).response()
    #expect(response.error != nil)
    #expect(try fixture.names() == [])
  }
}
