import Foundation
import Synchronization
import TestSupport
import Testing

@testable import TransferEngine

@Suite(.timeLimit(.minutes(5))) struct SuccessStatusTests {
  static let payload = Payload(size: 50_000)

  @Test("every success makes a file", arguments: [200, 201, 202, 203, 207, 208, 226])
  func statuses(_ status: Int) async throws {
    let server = try LoopbackServer { _ in
      [
        .status(status, headers: ["Content-Length": String(Self.payload.size)]),
        .bodyFrom(Self.payload, 0..<Self.payload.size), .keepAlive,
      ]
    }
    let fixture = try DownloadFixture()
    let response = try await fixture.download(server).response()
    #expect(response.head?.status == status)
    #expect(response.verification == .length)
    try fixture.expectOnly(Self.payload)
  }

  @Test("a success without a body makes an empty file", arguments: [204, 205])
  func empty(_ status: Int) async throws {
    let server = try LoopbackServer { _ in .response(status) }
    let fixture = try DownloadFixture()
    let response = try await fixture.download(server).response()
    #expect(response.error == nil)
    #expect(response.totalBytes == 0 && response.verification == .length)
    #expect(FileFacts(fixture.path)?.size == 0)
    #expect(server.requests.count == 1)
  }

  @Test("a 201, 202, 204 or 205 response to a Range request keeps the stored bytes", arguments: [201, 202, 204, 205])
  func onResume(_ status: Int) async throws {
    let server = try LoopbackServer(
      .file(Self.payload).failing(status, on: .at(1)).dropping(after: 20_000))
    let fixture = try DownloadFixture()
    let first = try await fixture.download(server).response()
    let second = try await fixture.download(server, resumingWith: first.resumeData?.encoded()).response()
    #expect(second.error?.responseCode == status)
    try fixture.expectPart(second.resumeData, holds: 20_000, of: Self.payload)
    let third = try await fixture.download(server, resumingWith: second.resumeData?.encoded()).response()
    #expect(third.isSuccess && third.resumedFrom == 20_000)
  }

  @Test("a validation can reject a 204 response")
  func refused() async throws {
    let server = try LoopbackServer { _ in .response(204) }
    let fixture = try DownloadFixture()
    let response = try await fixture.download(server).validate(statusCode: [200, 203, 206]).response()
    #expect(response.error?.responseCode == 204)
    #expect(try fixture.names() == [])
  }

  // MARK: The request's description

  private final class Router: URLRequestConvertible {
    let url: String
    let calls = Mutex(0)
    init(_ url: String) { self.url = url }
    func asURLRequest() throws -> TransferRequest {
      calls.withLock { $0 += 1 }
      return TransferRequest(url: try RequestURL(url))
    }
  }

  @Test("asURLRequest is called once for each attempt", arguments: [0, 2])
  func described(_ failures: Int) async throws {
    let server = try LoopbackServer(.file(Self.payload).failing(503, on: .first(failures)))
    for kind in ["download", "data", "stream"] {
      let router = Router(server.url("/file.bin"))
      let before = server.requests.count
      let session = Session(interceptor: .atOnce(2))
      switch kind {
      case "download":
        let response = await session.download(router).response()
        #expect(response.error == nil)
        if let url = response.fileURL { try FileManager.default.removeItem(at: url) }
      case "data": _ = await session.request(router).validate().response()
      default: _ = await session.streamRequest(router).validate().resume().completion()
      }
      #expect(router.calls.withLock { $0 } == server.requests.count - before)
    }
  }

  // MARK: Cancelling

  @Test("cancel() without resume data leaves no part file", arguments: ["cancel", "cancelAllRequests"])
  func cancelled(_ way: String) async throws {
    let server = try LoopbackServer(.file(Self.payload).stalling(after: 20_000))
    let fixture = try DownloadFixture()
    let arrived = Watched<Int64>(0)
    let request = try fixture.download(server).downloadProgress { step in arrived.mutate { $0 = step.completed } }
      .resume()
    try await arrived.wait(for: "some bytes") { $0 == 20_000 ? () : nil }
    if way == "cancel" { request.cancel() } else { fixture.session.cancelAllRequests() }
    let response = await request.response()
    #expect(response.error?.isExplicitlyCancelledError == true)
    #expect(response.resumeData == nil && request.resumeData == nil)
    #expect(try fixture.names() == [])
  }
}
